-- KEYS: meta, outbox, agent, holds, ended calls, slots, keys, open calls of the shard, given-up calls by the time of their
-- ids; of a video also the shard's open videos, the agent's videos and its ended ones by time, of images the agent's
-- stored ones.
-- ARGV: agent, key, call, nonce, kind, amount, time limit, caller's time, call and price as JSON, interval of the
-- start rate in microseconds, burst, running calls, daily share ('' for none), time of the call id; of a video also its id,
-- Idempotency-Key ('' for none), what its event says, what a read of it does, and how many may be open.

local agent_id, key_id, call_id, nonce, kind = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local amount, time_limit = tonumber(ARGV[6]), tonumber(ARGV[7])

-- A shard whose publisher or log is away starts nothing: what it decided could not be told in time.
local oldest = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1]
local lag_ms = 0
if oldest then lag_ms = math.max(0, now - tonumber(oldest[2][4])) end
if lag_ms >= GATE_TIMEOUT_MS or tonumber(shard[5]) >= OUTBOX_BYTES_MAX then return { 'LAGS' } end

local made_at = tonumber(ARGV[15])
if math.abs(tonumber(ARGV[8]) - now) > CLOCK_APART_MAX_MS then return { 'CLOCK_APART' } end
if made_at > now + CLOCK_APART_MAX_MS then return { 'CLOCK_APART' } end
-- The one time that the shard remembers, because two clocks agree on it: one that a wrong clock made would refuse
-- every start until it has come.
if now > last_ms then redis.call('HSET', KEYS[1], 'last_ms', whole(now)) end
if made_at < now - CALL_ID_AGE_MAX_MS then return { 'STALE_ID' } end

local agent = redis.call('HMGET', KEYS[3], 'version', 'status', 'tat_us', 'lots', 'charged_day')
if not agent[1] then return refused('UNKNOWN_AGENT') end

local hold = read_hold(call_id)
if hold then
  if hold.nonce == nonce then return { 'REPEATED', latest(), whole(lag_ms) } end
  return refused('ID_TAKEN')
end
local done = read_done(call_id)
if done then
  if done.nonce ~= nonce then return refused('ID_TAKEN') end
  return { 'DONE', latest(), done.charged }
end
if is_given_up(KEYS[9], call_id, made_at) then return { 'DONE', latest(), '0' } end

local video_id, video_key
if KEYS[11] then
  video_id, video_key = ARGV[16], ARGV[17]
  local function is_known(id)
    return redis.call('HEXISTS', KEYS[10], video_name(agent_id, id)) == 1 or is_kept(redis.call('HGET', KEYS[11], id .. ':end'))
  end
  local known = video_key ~= '' and redis.call('HGET', KEYS[11], 'key:' .. video_key)
  if known and is_known(known) then return { 'VIDEO_EXISTS', latest(), known } end
  if is_known(video_id) then return refused('ID_TAKEN') end
end

local key = redis.call('HMGET', KEYS[7], key_id .. ':hash', key_id .. ':revoked', key_id .. ':limit',
  key_id .. ':reset', key_id .. ':held', key_id .. ':day', key_id .. ':week', key_id .. ':month')
if not key[1] or key[2] then return refused('KEY_REVOKED') end
if agent[2] ~= 'active' then return refused('AGENT', agent[2]) end

local now_us, interval_us = now * 1000, tonumber(ARGV[11])
local tat_us = tonumber(agent[3])
-- A time further ahead than a used burst is of a clock that was wrong, or of a slower rate.
if tat_us > now_us + tonumber(ARGV[12]) * interval_us then tat_us = now_us + (tonumber(ARGV[12]) - 1) * interval_us end
local excess_us = tat_us - now_us - (tonumber(ARGV[12]) - 1) * interval_us
if excess_us > 0 then return refused('RATE', whole(math.ceil(excess_us / 1000))) end

if kind ~= 'video' then
  local running = redis.call('ZCOUNT', KEYS[6], '(' .. whole(now), '+inf')
  if running >= tonumber(ARGV[13]) then return refused('RUNNING', running) end
end

if video_id then
  local open = tonumber(redis.call('HGET', KEYS[3], 'open_videos') or '0')
  if open >= tonumber(ARGV[20]) then return refused('OPEN_VIDEOS', whole(open)) end
elseif kind == 'image' then
  local bytes, first_end = 0, nil
  local stored = redis.call('HGETALL', KEYS[10])
  for i = 1, #stored, 2 do
    local hour_end = tonumber(stored[i])
    if hour_end > now then
      bytes, first_end = bytes + tonumber(stored[i + 1]), math.min(hour_end, first_end or hour_end)
    end
  end
  if bytes >= RESULTS_BYTES_MAX then return refused('STORAGE_FULL', whole(first_end - now)) end
end

local lots = read_lots(agent[4])
local spendable, held = 0, 0
for _, lot in ipairs(lots) do
  held = held + lot.held
  if lot.expires > now then spendable = spendable + lot.free end
end

local today = start_of_day(now)
if ARGV[14] ~= '' and sum_since(agent[5], today) + held + amount > tonumber(ARGV[14]) then
  return refused('DAILY_SHARE', whole(today + DAY_MS))
end

local key_held = tonumber(key[5] or '0')
if key[3] then
  local starts, resets, sum
  if key[4] == 'daily' then
    starts, resets, sum = today, today + DAY_MS, key[6]
  elseif key[4] == 'weekly' then
    starts, sum = start_of_week(now), key[7]
    resets = starts + 7 * DAY_MS
  else
    starts, resets, sum = start_of_month(now), start_of_next_month(now), key[8]
  end
  local left = tonumber(key[3]) - sum_since(sum, starts) - key_held
  if amount > left then
    return refused('KEY_LIMIT', whole(math.max(left, 0)), whole(key_held), key[3], whole(resets))
  end
end

if amount > spendable then return refused('BALANCE', whole(spendable), whole(held)) end

-- From here on it writes.
local taken, left = {}, amount
for _, lot in ipairs(lots) do
  if left == 0 then break end
  if lot.expires > now and lot.free > 0 then
    local part = math.min(left, lot.free)
    lot.free, lot.held, left = lot.free - part, lot.held + part, left - part
    taken[#taken + 1] = whole(lot.expires) .. ':' .. whole(part)
  end
end
local allocations = table.concat(taken, ',')
local version = whole(tonumber(agent[1]) + 1)
local next_tat_us = whole(math.max(tat_us, now_us) + interval_us)
local lease_ends = kind == 'video' and 'null' or whole(now + HOLD_LEASE_MS)

local seq = emit('reserved', agent_id, version, ',"callId":' .. call_id .. ',"nonce":' .. nonce .. ',"keyId":' .. key_id
  .. ',"kind":"' .. kind .. '","nanoUsd":"' .. whole(amount) .. '","allocations":' .. allocations_json(allocations)
  .. ',"leaseEndsAtMs":' .. lease_ends .. ',"startsTatUs":' .. next_tat_us .. ',"timeLimitMs":' .. whole(time_limit)
  .. ',"call":' .. ARGV[9] .. ',"price":' .. ARGV[10] .. (video_id and ',"video":' .. ARGV[18] or ''))
redis.call('HSET', KEYS[3], 'version', version, 'tat_us', next_tat_us, 'lots', write_lots(lots))
redis.call('HSET', KEYS[4],
  call_id, table.concat({ key_id, kind, whole(amount), whole(now), whole(time_limit),
    allocations == '' and '-' or allocations, nonce }, ' '),
  call_id .. ':call', ARGV[9], call_id .. ':price', ARGV[10])
redis.call('ZREMRANGEBYSCORE', KEYS[6], '-inf', whole(now))
if kind ~= 'video' then redis.call('ZADD', KEYS[6], lease_ends, call_id) end
redis.call('HSET', KEYS[7], key_id .. ':held', whole(key_held + amount), key_id .. ':used', whole(now))
redis.call('ZADD', KEYS[8], whole(now + time_limit + ORPHAN_MARGIN_MS), open_name(agent_id, call_id))
if video_id then
  redis.call('HSET', KEYS[4], call_id .. ':video', video_id)
  redis.call('HSET', KEYS[10], video_name(agent_id, video_id),
    string.sub(ARGV[19], 1, -2) .. ',"createdAtMs":' .. whole(now) .. '}')
  if video_key ~= '' then redis.call('HSET', KEYS[11], 'key:' .. video_key, video_id) end
  redis.call('PERSIST', KEYS[11])
  redis.call('PERSIST', KEYS[12])
  redis.call('HINCRBY', KEYS[3], 'open_videos', 1)
end
return { 'OK', seq, whole(lag_ms) }
