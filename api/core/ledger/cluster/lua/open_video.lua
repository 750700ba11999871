-- Of the steps of a video that has not ended. KEYS: meta, outbox, agent, holds, open videos of the shard.
-- ARGV: agent, call, nonce as JSON.

local agent_id, call_id, nonce = ARGV[1], ARGV[2], ARGV[3]
local video_id = redis.call('HGET', KEYS[4], call_id .. ':video')
-- What it rests on may be an event that the log does not have yet, or a node whose time has passed.
if not video_id then return { 'NO_HOLD', latest() } end
local name = video_name(agent_id, video_id)
local known = redis.call('HMGET', KEYS[5], name .. ':claim', name .. ':submitted')
local claimed_by = known[1] and string.match(known[1], '^%d+ (.+)$')
local provider_job = known[2] and string.match(known[2], '^%d+ (.+)$')

local function emit_next(kind, body)
  local version = whole(tonumber(redis.call('HGET', KEYS[3], 'version')) + 1)
  local seq = emit(kind, agent_id, version, ',"callId":' .. call_id .. body)
  redis.call('HSET', KEYS[3], 'version', version)
  return seq
end
