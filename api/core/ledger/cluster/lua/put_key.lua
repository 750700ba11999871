-- KEYS: meta, outbox, agent, keys, key hashes of the shard. ARGV: agent, key, label and prefix as JSON, hash, limit ('' for
-- none), reset, acting key ('' for the operator), over MCP ('true' or 'false'), active keys and MCP keys a day at most, the newest
-- version of the agent's keys as its sender read them ('' for any).

local agent_id, key_id, hash, acting_id, over_mcp = ARGV[1], ARGV[2], ARGV[5], ARGV[8], ARGV[9]
local agent = redis.call('HMGET', KEYS[3], 'version', 'status', 'active_keys', 'mcp_keys', 'keys_version')
if not agent[1] then return refused('UNKNOWN_AGENT') end

local known = redis.call('HMGET', KEYS[4], key_id .. ':hash', key_id .. ':revoked')
-- Whatever has become of its label and limit since.
local repeated = known[1] == hash and not known[2]
local acting_refusal = refuse_acting_key(acting_id, repeated)
if acting_refusal then return refused(acting_refusal) end
if repeated then return { 'REPEATED', latest() } end
if known[1] then return refused(known[1] == hash and 'KEY_REVOKED' or 'ID_TAKEN') end

if acting_id ~= '' and agent[2] ~= 'active' then return refused('AGENT_NOT_ACTIVE') end
if has_changed(agent[5], ARGV[12]) then return refused('CHANGED_SINCE') end
if redis.call('HEXISTS', KEYS[5], hash) == 1 then return refused('HASH_TAKEN') end
if tonumber(agent[3] or '0') >= tonumber(ARGV[10]) then return refused('TOO_MANY_ACTIVE_KEYS') end
local made_at, counted = {}, 0
for at in string.gmatch(agent[4] or '', '%d+') do
  if tonumber(at) > now - DAY_MS then
    made_at[#made_at + 1] = at
    if not is_ahead(tonumber(at)) then counted = counted + 1 end
  end
end
if over_mcp == 'true' and counted >= tonumber(ARGV[11]) then return refused('TOO_MANY_MCP_KEYS') end

local created_by = acting_id == '' and 'null' or acting_id
local seq = write_key(agent_id, agent[1], key_id, {
  label = ARGV[3], prefix = ARGV[4], hash = hash, limit = ARGV[6], reset = ARGV[7], created_by = created_by,
  over_mcp = over_mcp,
})
redis.call('HSET', KEYS[4], key_id .. ':hash', hash, key_id .. ':prefix', ARGV[4], key_id .. ':by', created_by,
  key_id .. ':created', whole(now))
redis.call('HINCRBY', KEYS[3], 'active_keys', 1)
redis.call('HSET', KEYS[5], hash, agent_id .. ':' .. key_id)
if over_mcp == 'true' then
  made_at[#made_at + 1] = whole(now)
  redis.call('HSET', KEYS[3], 'mcp_keys', table.concat(made_at, ' '))
end
return { 'OK', seq }
