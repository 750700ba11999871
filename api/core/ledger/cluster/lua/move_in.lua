-- KEYS: meta, outbox, agent, agents of the shard, trades, trades by time, agents by the end of their first lot.
-- ARGV: agent, trade id as JSON, expiry, amount.
-- Never refuses, because the seller's half is already done: what cannot be kept expires.

local agent_id, trade_id, expires, amount = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local name = 'in:' .. trade_id
local known, known_expired = find_trade(name)
if known then return { 'REPEATED', latest(), known_expired } end

local agent = redis.call('HMGET', KEYS[3], 'version', 'lots')
local lots = read_lots(agent[2])
local kept = 0
if expires > now then kept = math.min(amount, BALANCE_CAP_NANO_USD - balance_of(lots)) end
local expired = whole(amount - kept)

local version = whole(tonumber(agent[1] or '0') + 1)
local seq = emit('moved_in', agent_id, version, ',"tradeId":' .. trade_id .. ',"expiresAtMs":' .. whole(expires)
  .. ',"nanoUsd":"' .. whole(amount) .. '","expiredNanoUsd":"' .. expired .. '"')
if not agent[1] then make_agent(agent_id) end
if kept > 0 then
  local lot = lot_of(lots, expires)
  lot.free = lot.free + kept
  redis.call('ZADD', KEYS[7], 'LT', whole(expires), agent_id)
end
redis.call('HSET', KEYS[3], 'version', version, 'lots', write_lots(lots))
redis.call('HINCRBY', KEYS[3], 'moved_in', whole(amount))
redis.call('HINCRBY', KEYS[3], 'expired', expired)
keep_trade(name, 'moved_in', expired, math.max(now, expires) + LOG_KEPT_MS, '')
return { 'OK', seq, expired }
