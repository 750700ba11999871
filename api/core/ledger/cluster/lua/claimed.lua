-- What only the present claimer of a fenced shard may do; ARGV[1] is its nonce.

local claim = redis.call('HMGET', KEYS[1], 'claim', 'claimed_by', 'fence')
if claim[1] ~= ARGV[1] or claim[2] ~= identity() or claim[3] then return { 'LOST' } end
