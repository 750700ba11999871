-- KEYS: meta, outbox, agent, agents of the shard, grants, agents by the end of their first lot. ARGV: agent, grant id as JSON, expiry, amount.

local agent_id, grant_id, expires, amount = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local agent = redis.call('HMGET', KEYS[3], 'version', 'lots')
local known_until = redis.call('ZSCORE', KEYS[5], grant_id)
if known_until and tonumber(known_until) > now then return { 'REPEATED', latest() } end
if expires % DAY_MS ~= 0 then return refused('NOT_MIDNIGHT') end
if expires <= now then return refused('LOT_ENDED') end
if expires > start_of_day(now) + LOT_DAYS_MAX * DAY_MS then return refused('LOT_TOO_FAR') end
local lots = read_lots(agent[2])
if balance_of(lots) + amount > BALANCE_CAP_NANO_USD then return refused('OVER_CAP') end

local version = whole(tonumber(agent[1] or '0') + 1)
local seq = emit('granted', agent_id, version, ',"grantId":' .. grant_id .. ',"expiresAtMs":' .. whole(expires)
  .. ',"nanoUsd":"' .. whole(amount) .. '"')
if not agent[1] then make_agent(agent_id) end
local lot = lot_of(lots, expires)
lot.free = lot.free + amount
redis.call('HSET', KEYS[3], 'version', version, 'lots', write_lots(lots))
redis.call('HINCRBY', KEYS[3], 'granted', whole(amount))
redis.call('ZADD', KEYS[6], 'LT', whole(expires), agent_id)
redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', whole(now))
redis.call('ZADD', KEYS[5], whole(now + GRANT_ID_KEPT_MS), grant_id)
return { 'OK', seq }
