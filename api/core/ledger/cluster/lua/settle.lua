-- KEYS: meta, outbox, agent, holds, ended calls, slots, keys, open calls of the shard, given-up calls by the time of their
-- ids, ended calls by time; and those of results.lua.
-- ARGV: agent, call, cost in units of 10^15 and the rest of it, end as JSON, cause, time of the call id, a video's file
-- as JSON ('' for none); of images that were stored their bytes and until when.

local HIGH = 1e15
-- The largest amount that an event can carry.
local OVERRUN_MAX = '99999999999999999999'

local function overrun_text(high, low, charged)
  low = low - charged
  while low < 0 and high > 0 do
    high, low = high - 1, low + HIGH
  end
  if high == 0 then return whole(low) end
  local text = whole(high) .. string.format('%015.0f', low)
  return #text > #OVERRUN_MAX and OVERRUN_MAX or text
end

local agent_id, call_id = ARGV[1], ARGV[2]
local hold = read_hold(call_id)
-- A provider's absurd cost has more digits than a double: it is never added up, only taken apart.
local cost_high, cost_low = tonumber(ARGV[3]), tonumber(ARGV[4])
if not hold then
  local answer = without_hold(call_id, 'REPEATED')
  local is_release = ARGV[6] == 'end' and cost_high == 0 and cost_low == 0
  if answer[1] == 'NO_HOLD' and is_release and redis.call('EXISTS', KEYS[3]) == 1 then
    note_given_up(KEYS[9], call_id, tonumber(ARGV[7]))
  end
  return answer
end
if ARGV[6] == 'orphan' then
  local pending = redis.call('HEXISTS', KEYS[4], call_id .. ':pending') == 1
  -- Where a wrong clock opened the shard, what is left would be longer than any grace.
  local grace_ms = tonumber(redis.call('HGET', KEYS[1], 'opened_ms') or '0') + ORPHAN_GRACE_MS - clock_ms
  if grace_ms > 0 and grace_ms <= ORPHAN_GRACE_MS then return { 'NOT_ORPHANED' } end
  local started_by = math.max(hold.started, tonumber(ARGV[7]))
  if pending or now < started_by + hold.limit + ORPHAN_MARGIN_MS then return { 'NOT_ORPHANED' } end
  cost_high, cost_low = 0, 0
end

local charged = hold.amount
if cost_high * HIGH < charged then charged = math.min(charged, cost_high * HIGH + cost_low) end
local agent = redis.call('HMGET', KEYS[3], 'version', 'lots', 'charged_day')
local lots = read_lots(agent[2])
local left = charged
for expires, part in string.gmatch(hold.allocations, '(%d+):(%d+)') do
  local lot, amount = find_lot(lots, tonumber(expires)), tonumber(part)
  local taken = math.min(left, amount)
  left, lot.held, lot.free = left - taken, lot.held - amount, lot.free + amount - taken
end
local key_id = hold.key_id
local key = redis.call('HMGET', KEYS[7], key_id .. ':held', key_id .. ':day', key_id .. ':week', key_id .. ':month')
local key_held = whole(tonumber(key[1]) - hold.amount)

local video_id, results = nil, ''
if hold.kind == 'video' then video_id = redis.call('HGET', KEYS[4], call_id .. ':video') end
local has_file = video_id and ARGV[8] ~= ''
local has_images = hold.kind == 'image' and KEYS[14]
if has_file then
  results = ',"video":' .. ARGV[8]
elseif has_images then
  results = ',"stored":{"bytes":' .. ARGV[9] .. ',"untilMs":' .. ARGV[10] .. '}'
end

local version = whole(tonumber(agent[1]) + 1)
local seq = emit('settled', agent_id, version, ',"callId":' .. call_id .. ',"chargedNanoUsd":"' .. whole(charged)
  .. '","overrunNanoUsd":"' .. overrun_text(cost_high, cost_low, charged) .. '","end":' .. ARGV[5] .. results)
redis.call('HSET', KEYS[3], 'version', version, 'lots', write_lots(lots),
  'charged_day', added(agent[3], start_of_day(now), charged))
redis.call('HINCRBY', KEYS[3], 'charged', whole(charged))
redis.call('HSET', KEYS[7], key_id .. ':held', key_held,
  key_id .. ':day', added(key[2], start_of_day(now), charged),
  key_id .. ':week', added(key[3], start_of_week(now), charged),
  key_id .. ':month', added(key[4], start_of_month(now), charged))
redis.call('HDEL', KEYS[4], call_id, call_id .. ':call', call_id .. ':price', call_id .. ':generation', call_id .. ':pending')
redis.call('ZREM', KEYS[6], call_id)
redis.call('ZREM', KEYS[8], open_name(agent_id, call_id))
redis.call('HSET', KEYS[5], call_id, whole(charged) .. ' ' .. whole(now) .. ' ' .. hold.nonce)
redis.call('ZADD', KEYS[10], whole(now), call_id)
-- A few of those that no longer count go with each that comes, so that no step has to walk through an hour of them.
local old = redis.call('ZRANGE', KEYS[10], '-inf', whole(now - DONE_KEPT_MS), 'BYSCORE', 'LIMIT', 0, DONE_CLEARED_AT_ONCE)
if #old > 0 then
  redis.call('HDEL', KEYS[5], unpack(old))
  redis.call('ZREM', KEYS[10], unpack(old))
end
if video_id then
  redis.call('HDEL', KEYS[4], call_id .. ':video')
  end_video(agent_id, video_id, charged, ARGV[5], has_file and ARGV[8] or 'null')
elseif has_images then
  store_images(ARGV[9], ARGV[10])
end
return { 'OK', seq, whole(charged) }
