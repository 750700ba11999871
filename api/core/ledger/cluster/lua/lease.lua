-- KEYS: meta. ARGV: recoverer, how long. Two recoverers of one shard would end each other's epochs for ever: one waits
-- while the other is at work. That is all the lease is for; whoever ignores it harms nothing.

local lease = redis.call('HMGET', KEYS[1], 'lease', 'lease_until')
if lease[1] and lease[1] ~= ARGV[1] and tonumber(lease[2]) > clock_ms then return { 'BUSY' } end
redis.call('HSET', KEYS[1], 'lease', ARGV[1], 'lease_until', whole(clock_ms + tonumber(ARGV[2])))
return { 'OK' }
