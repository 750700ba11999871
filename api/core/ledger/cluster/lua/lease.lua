-- KEYS: meta. ARGV: who, how long. Who publishes a shard, or rebuilds it, is alone at it: two publishers would send
-- everything twice, and two recoverers would end each other's epochs for ever. That is all the lease is for; whoever
-- ignores it harms nothing.

local lease = redis.call('HMGET', KEYS[1], 'lease', 'lease_until')
local left_ms = tonumber(lease[2] or '0') - clock_ms
-- One that would last longer than any was taken while the clock was wrong.
if lease[1] ~= ARGV[1] and left_ms > 0 and left_ms <= LEASE_MAX_MS then return { 'BUSY' } end
if ARGV[2] == '0' then redis.call('PUBLISH', KEYS[1] .. ':wake', 'free') end
redis.call('HSET', KEYS[1], 'lease', ARGV[1], 'lease_until', whole(clock_ms + tonumber(ARGV[2])))
return { 'OK' }
