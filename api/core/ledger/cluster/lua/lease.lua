-- KEYS: meta. ARGV: recoverer, how long. Two recoverers of one shard would end each other's epochs for ever: one waits
-- while the other is at work. That is all the lease is for; whoever ignores it harms nothing.

local lease = redis.call('HMGET', KEYS[1], 'lease', 'lease_until')
local left_ms = tonumber(lease[2] or '0') - clock_ms
-- One that would last longer than any was taken while the clock was wrong.
if lease[1] ~= ARGV[1] and left_ms > 0 and left_ms <= LEASE_MAX_MS then return { 'BUSY' } end
redis.call('HSET', KEYS[1], 'lease', ARGV[1], 'lease_until', whole(clock_ms + tonumber(ARGV[2])))
return { 'OK' }
