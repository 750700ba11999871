-- A call may leave a video or images besides its charge. A settlement has KEYS[11] open videos of the shard, KEYS[12] the
-- agent's videos, KEYS[13] its ended ones by time, KEYS[14] its stored images by the end of their hour, where there are some.

-- The video's end, from the shard's open videos to the agent's ended ones.
local function end_video(agent_id, video_id, charged, end_json, file_json)
  local error_code, error_json = nil, 'null'
  if file_json == 'null' then
    error_code = cjson.decode(end_json).errorCode
    error_json = cjson.encode(error_code == cjson.null and 'gateway_error' or error_code)
  end
  local name = video_name(agent_id, video_id)
  local open = redis.call('HMGET', KEYS[11], name, name .. ':claim', name .. ':submitted')
  local order = open[1]
  -- An order whose sender was told that there is none does not use its key up.
  if error_code == 'service_unavailable' and not open[2] then
    local key = cjson.decode(order).idempotencyKey
    if key ~= cjson.null then
      local text = '"idempotencyKey":"' .. key .. '"'
      local from, to = string.find(order, text, 1, true)
      order = string.sub(order, 1, from - 1) .. '"idempotencyKey":null' .. string.sub(order, to + 1)
      if redis.call('HGET', KEYS[12], 'key:' .. key) == video_id then redis.call('HDEL', KEYS[12], 'key:' .. key) end
    end
  end
  redis.call('HSET', KEYS[12], video_id, order, video_id .. ':end', '{"atMs":' .. whole(now) .. ',"chargedNanoUsd":"'
    .. whole(charged) .. '","errorCode":' .. error_json .. ',"file":' .. file_json .. '}')
  if open[2] then redis.call('HSET', KEYS[12], video_id .. ':claim', open[2]) end
  if open[3] then redis.call('HSET', KEYS[12], video_id .. ':submitted', open[3]) end
  redis.call('HDEL', KEYS[11], name, name .. ':claim', name .. ':submitted')
  redis.call('ZADD', KEYS[13], whole(now), video_id)
  -- A few of those that no longer count, or as many of the oldest as are too many.
  local old
  local too_many = redis.call('ZCARD', KEYS[13]) - ENDED_VIDEOS_KEPT_MAX
  if too_many > 0 then
    old = redis.call('ZRANGE', KEYS[13], 0, too_many - 1)
  else
    old = redis.call('ZRANGE', KEYS[13], '-inf', whole(now - ENDED_VIDEO_KEPT_MS), 'BYSCORE', 'LIMIT', 0, DONE_CLEARED_AT_ONCE)
  end
  for _, id in ipairs(old) do
    local key = cjson.decode(redis.call('HGET', KEYS[12], id)).idempotencyKey
    if key ~= cjson.null and redis.call('HGET', KEYS[12], 'key:' .. key) == id then redis.call('HDEL', KEYS[12], 'key:' .. key) end
    redis.call('HDEL', KEYS[12], id, id .. ':claim', id .. ':submitted', id .. ':end')
    redis.call('ZREM', KEYS[13], id)
  end
  -- Who orders no more leaves nothing behind. Twice the time, because Redis counts it by its own clock, and not by the shard's.
  if redis.call('HINCRBY', KEYS[3], 'open_videos', -1) == 0 then
    redis.call('PEXPIRE', KEYS[12], whole(2 * ENDED_VIDEO_KEPT_MS))
    redis.call('PEXPIRE', KEYS[13], whole(2 * ENDED_VIDEO_KEPT_MS))
  end
end

local function store_images(bytes, until_ms)
  for _, hour_end in ipairs(redis.call('HKEYS', KEYS[14])) do
    if tonumber(hour_end) <= now then redis.call('HDEL', KEYS[14], hour_end) end
  end
  redis.call('HINCRBY', KEYS[14], whole(math.ceil(tonumber(until_ms) / HOUR_MS) * HOUR_MS), bytes)
  redis.call('PEXPIRE', KEYS[14], whole(2 * RESULT_LINK_MS))
end
