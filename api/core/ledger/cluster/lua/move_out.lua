-- KEYS: meta, outbox, agent, agents of the shard, trades, trades by time.
-- ARGV: agent, trade id as JSON, expiry, amount, buyer.

local agent_id, trade_id, expires, amount = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local name = 'out:' .. trade_id
local terms = ARGV[5] .. ':' .. ARGV[3] .. ':' .. ARGV[4]
local known, _, detail = find_trade(name)
if known == 'move_refused' then return { 'REFUSED_BEFORE', latest(), detail } end
-- The same id for another sale: its buyer would be given what nobody gave.
if known and detail ~= terms then return { 'OTHER_TERMS', latest() } end
if known then return { 'REPEATED', latest() } end

local agent = redis.call('HMGET', KEYS[3], 'version', 'lots')
local lots = read_lots(agent[2])
local lot = find_lot(lots, expires)
local reason
if not agent[1] then
  reason = 'unknown_agent'
elseif expires <= now then
  reason = 'lot_ended'
elseif amount == 0 then
  reason = 'nothing'
elseif not lot or amount > lot.free then
  reason = 'balance'
end

local version = whole(tonumber(agent[1] or '0') + 1)
if reason then
  -- An event like an acceptance: a retry elsewhere must not turn it into the other answer.
  local seq = emit('move_refused', agent_id, version, ',"tradeId":' .. trade_id .. ',"reason":"' .. reason .. '"')
  if not agent[1] then make_agent(agent_id) end
  redis.call('HSET', KEYS[3], 'version', version)
  keep_trade(name, 'move_refused', '0', now + LOT_DAYS_MAX * DAY_MS + LOG_KEPT_MS, reason)
  return { 'REFUSED', seq, reason }
end
local seq = emit('moved_out', agent_id, version, ',"tradeId":' .. trade_id .. ',"lots":'
  .. allocations_json(whole(expires) .. ':' .. whole(amount)) .. ',"buyerAgentId":' .. ARGV[5])
lot.free = lot.free - amount
redis.call('HSET', KEYS[3], 'version', version, 'lots', write_lots(lots))
redis.call('HINCRBY', KEYS[3], 'moved_out', whole(amount))
keep_trade(name, 'moved_out', '0', math.max(now, expires) + LOG_KEPT_MS, terms)
return { 'OK', seq }
