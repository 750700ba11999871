-- KEYS: meta, outbox, agent, agents by the end of their first lot. ARGV: agent, until when. What is taken is gone: this
-- node's clock and the log's have to agree that it has ended.

local function note_first_end(ends, agent_id, first)
  if first then redis.call('ZADD', ends, first, agent_id) else redis.call('ZREM', ends, agent_id) end
end

local agent = redis.call('HMGET', KEYS[3], 'version', 'lots')
local lots = read_lots(agent[2])
local ended_by = math.min(now, tonumber(ARGV[2]))
local ended, sum = {}, 0
for _, lot in ipairs(lots) do
  if lot.expires <= ended_by and lot.free > 0 then
    ended[#ended + 1] = whole(lot.expires) .. ':' .. whole(lot.free)
    sum = sum + lot.free
    lot.free = 0
  end
end
-- A lot stays while a call holds some of it, and is looked at again.
local kept = write_lots(lots)
local first = string.match(kept, '^%d+')
if #ended == 0 then
  note_first_end(KEYS[4], ARGV[1], first)
  return { 'OK', '', '0' }
end

local version = whole(tonumber(agent[1]) + 1)
local seq = emit('expired', ARGV[1], version, ',"lots":' .. allocations_json(table.concat(ended, ',')))
redis.call('HSET', KEYS[3], 'version', version, 'lots', kept)
redis.call('HINCRBY', KEYS[3], 'expired', whole(sum))
note_first_end(KEYS[4], ARGV[1], first)
return { 'OK', seq, whole(sum) }
