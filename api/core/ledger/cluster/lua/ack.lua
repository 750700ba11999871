-- KEYS: meta, outbox. ARGV: epoch, seq, offset behind the last of them in the log, seq after which to go on, how many at
-- the most. The log has all of the epoch's events up to this one: they leave the outbox, and whoever waits for them is
-- told. Answers what is to be sent next. Of another epoch it only names its own.

if shard[2] ~= ARGV[1] then return { 'OK', shard[2], {} } end
-- Of two publishers the slower one takes nothing back.
if tonumber(ARGV[2]) > tonumber(redis.call('HGET', KEYS[1], 'acked')) then
  local place = ARGV[1] .. '-' .. ARGV[2]
  local bytes = 0
  for _, entry in ipairs(redis.call('XRANGE', KEYS[2], '-', place)) do
    bytes = bytes + #entry[2][2]
  end
  redis.call('XTRIM', KEYS[2], 'MINID', ARGV[1] .. '-' .. whole(tonumber(ARGV[2]) + 1))
  redis.call('HSET', KEYS[1], 'outbox_bytes', whole(tonumber(shard[5]) - bytes), 'acked', ARGV[2], 'offset', ARGV[3])
  redis.call('PUBLISH', KEYS[1] .. ':acked', place)
end
local entries = redis.call('XRANGE', KEYS[2], shard[2] .. '-' .. whole(tonumber(ARGV[4]) + 1), '+', 'COUNT', ARGV[5])
local events = {}
for _, entry in ipairs(entries) do
  events[#events + 1] = string.match(entry[1], '%d+$')
  events[#events + 1] = entry[2][2]
end
return { 'OK', shard[2], events }
