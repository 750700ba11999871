-- KEYS: meta, outbox. ARGV: epoch, seq, offset behind the last of them in the log. The log has all of the epoch's events
-- up to this one: they leave the outbox, and whoever waits for them is told. Of another epoch it says nothing.

if shard[2] ~= ARGV[1] then return { 'OTHER_EPOCH' } end
-- Of two publishers the slower one takes nothing back.
if tonumber(ARGV[2]) <= tonumber(redis.call('HGET', KEYS[1], 'acked')) then return { 'OK' } end
local place = ARGV[1] .. '-' .. ARGV[2]
local bytes = 0
for _, entry in ipairs(redis.call('XRANGE', KEYS[2], '-', place)) do
  bytes = bytes + #entry[2][2]
end
redis.call('XTRIM', KEYS[2], 'MINID', ARGV[1] .. '-' .. whole(tonumber(ARGV[2]) + 1))
redis.call('HSET', KEYS[1], 'outbox_bytes', whole(tonumber(shard[5]) - bytes), 'acked', ARGV[2], 'offset', ARGV[3])
redis.call('PUBLISH', KEYS[1] .. ':acked', place)
return { 'OK' }
