-- KEYS: meta, outbox, agent, holds, ended calls, slots. ARGV: agent, call, end and pending price as JSON.

local agent_id, call_id = ARGV[1], ARGV[2]
local hold = read_hold(call_id)
if not hold then return without_hold(call_id, 'DONE') end
if redis.call('HEXISTS', KEYS[4], call_id .. ':pending') == 1 then return { 'REPEATED', latest() } end

local version = whole(tonumber(redis.call('HGET', KEYS[3], 'version')) + 1)
local seq = emit('finished', agent_id, version, ',"callId":' .. call_id .. ',"end":' .. ARGV[3] .. ',"pending":' .. ARGV[4])
redis.call('HSET', KEYS[3], 'version', version)
redis.call('HSET', KEYS[4], call_id .. ':pending', '{"end":' .. ARGV[3] .. ',"pending":' .. ARGV[4] .. '}')
redis.call('ZREM', KEYS[6], call_id)
return { 'OK', seq }
