-- KEYS: meta, outbox, agent, agents of the shard, status by source. ARGV: agent, mode, source as JSON, its version,
-- status, name and token as JSON.

local agent_id, mode, source, source_version = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local status, agent_name, token = ARGV[5], ARGV[6], ARGV[7]
-- 'version status'
local said = redis.call('HGET', KEYS[5], source)
if said and tonumber(string.match(said, '^%d+')) >= source_version then return { 'REPEATED', latest() } end
local before = redis.call('HMGET', KEYS[3], 'version', 'name', 'token')
local version_before = before[1]
if not version_before and mode == 'update' then return refused('UNKNOWN_AGENT') end
-- An update is about the status alone: name and token stay as they are now, whatever its sender has read.
if mode == 'update' then agent_name, token = before[2], before[3] end
if mode == 'create' and version_before and redis.call('HLEN', KEYS[5]) > 0 then return refused('EXISTS') end

local version = whole(tonumber(version_before or '0') + 1)
local seq = emit('agent_set', agent_id, version, ',"source":' .. source .. ',"sourceVersion":' .. whole(source_version)
  .. ',"status":"' .. status .. '","name":' .. agent_name .. ',"token":' .. token)
if not version_before then make_agent(agent_id) end
redis.call('HSET', KEYS[5], source, whole(source_version) .. ' ' .. status)
-- A suspension from any source wins; else one 'active' is enough.
local now_is = 'inactive'
for _, of in ipairs(redis.call('HVALS', KEYS[5])) do
  local one = string.match(of, '%a+$')
  if one == 'suspended' then
    now_is = 'suspended'
    break
  end
  if one == 'active' then now_is = 'active' end
end
redis.call('HSET', KEYS[3], 'version', version, 'name', agent_name, 'token', token, 'status', now_is)
return { 'OK', seq }
