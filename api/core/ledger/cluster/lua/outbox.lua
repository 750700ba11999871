-- KEYS: meta, outbox. ARGV: seq after which to begin, how many at the most.

local entries = redis.call('XRANGE', KEYS[2], shard[2] .. '-' .. whole(tonumber(ARGV[1]) + 1), '+', 'COUNT', ARGV[2])
local events = {}
for _, entry in ipairs(entries) do
  events[#events + 1] = string.match(entry[1], '%d+$')
  events[#events + 1] = entry[2][2]
end
return { 'OK', shard[2], events }
