-- KEYS: meta, outbox, agent, uploads by the time of their start. ARGV: agent, upload id as JSON, uploads a day at most.

local agent_id, upload_id = ARGV[1], ARGV[2]
local agent = redis.call('HMGET', KEYS[3], 'version', 'status', 'lots')
if not agent[1] then return refused('UNKNOWN_AGENT') end
local day_ago = now - DAY_MS
local started = redis.call('ZSCORE', KEYS[4], upload_id)
if started and tonumber(started) > day_ago then return { 'REPEATED', latest() } end
if agent[2] ~= 'active' then return refused('AGENT', agent[2]) end

local spendable = false
for _, lot in ipairs(read_lots(agent[3])) do
  if lot.expires > now and lot.free > 0 then spendable = true end
end
if not spendable then return refused('BALANCE') end

-- More than none where the operator has lowered the limit.
local not_ahead = whole(now + CLOCK_APART_MAX_MS)
local too_many = redis.call('ZCOUNT', KEYS[4], '(' .. whole(day_ago), not_ahead) - tonumber(ARGV[3])
if too_many >= 0 then
  local makes_room = redis.call('ZRANGE', KEYS[4], '(' .. whole(day_ago), not_ahead, 'BYSCORE', 'LIMIT', too_many, 1,
    'WITHSCORES')
  return refused('UPLOADS_PER_DAY', whole(tonumber(makes_room[2] or now) - day_ago))
end

local version = whole(tonumber(agent[1]) + 1)
local seq = emit('upload_started', agent_id, version, ',"uploadId":' .. upload_id)
redis.call('HSET', KEYS[3], 'version', version)
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', whole(day_ago))
redis.call('ZADD', KEYS[4], whole(now), upload_id)
-- Who starts no more leaves nothing behind. Twice the day, because Redis counts it by its own clock, and not by the shard's.
redis.call('PEXPIRE', KEYS[4], whole(2 * DAY_MS))
return { 'OK', seq }
