-- KEYS: meta, outbox, agent, keys. ARGV: key, its hash.

local key = redis.call('HMGET', KEYS[4], ARGV[1] .. ':hash', ARGV[1] .. ':revoked')
if key[1] ~= ARGV[2] then return { 'OK', latest(), 'unknown', '' } end
return { 'OK', latest(), key[2] and 'revoked' or 'live', redis.call('HGET', KEYS[3], 'status') or '' }
