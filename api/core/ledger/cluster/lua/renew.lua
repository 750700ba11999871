-- KEYS: meta, outbox, agent, holds, ended calls, slots. ARGV: agent, call, generation id as JSON ('' for none), for how long the
-- call keeps its slot in milliseconds (0: it leaves the slot, and its money stays held).

local agent_id, call_id, generation = ARGV[1], ARGV[2], ARGV[3]
local hold = read_hold(call_id)
if not hold or redis.call('HEXISTS', KEYS[4], call_id .. ':pending') == 1 then return { 'NO_HOLD' } end

local seq = ''
if generation ~= '' and generation ~= redis.call('HGET', KEYS[4], call_id .. ':generation') then
  local version = whole(tonumber(redis.call('HGET', KEYS[3], 'version')) + 1)
  seq = emit('renewed', agent_id, version, ',"callId":' .. call_id .. ',"generationId":' .. generation)
  redis.call('HSET', KEYS[3], 'version', version)
  redis.call('HSET', KEYS[4], call_id .. ':generation', generation)
end
if hold.kind ~= 'video' then redis.call('ZADD', KEYS[6], whole(now + tonumber(ARGV[4])), call_id) end
return { 'OK', seq }
