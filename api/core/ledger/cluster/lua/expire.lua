-- KEYS: meta, outbox, agent. ARGV: agent.

remember_time()
local agent = redis.call('HMGET', KEYS[3], 'version', 'lots')
local lots = read_lots(agent[2])
local ended, sum = {}, 0
for _, lot in ipairs(lots) do
  if lot.expires <= now and lot.free > 0 then
    ended[#ended + 1] = whole(lot.expires) .. ':' .. whole(lot.free)
    sum = sum + lot.free
    lot.free = 0
  end
end
if #ended == 0 then return { 'OK', '', '0' } end

local version = whole(tonumber(agent[1]) + 1)
local seq = emit('expired', ARGV[1], version, ',"lots":' .. allocations_json(table.concat(ended, ',')))
redis.call('HSET', KEYS[3], 'version', version, 'lots', write_lots(lots))
redis.call('HINCRBY', KEYS[3], 'expired', whole(sum))
return { 'OK', seq, whole(sum) }
