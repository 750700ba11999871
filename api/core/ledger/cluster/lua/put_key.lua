-- KEYS: meta, outbox, agent, keys, key hashes of the shard. ARGV: agent, key, label and prefix as JSON, hash ('' for
-- none), limit ('' for none), reset, acting key ('' for the operator), over MCP ('true' or 'false'), active keys and
-- MCP keys a day at most.

local agent_id, key_id, label, prefix, hash = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local limit, reset, acting_id, over_mcp = ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local agent = redis.call('HMGET', KEYS[3], 'version', 'status', 'active_keys', 'mcp_keys')
if not agent[1] then return { 'UNKNOWN_AGENT' } end

local key = redis.call('HMGET', KEYS[4], key_id .. ':hash', key_id .. ':revoked', key_id .. ':label', key_id .. ':limit',
  key_id .. ':reset', key_id .. ':prefix', key_id .. ':by')
local exists = key[1] and true or false
local repeated = exists and not key[2] and (hash == '' or hash == key[1]) and label == key[3]
  and limit == (key[4] or '') and (limit == '' or reset == key[5])
local acting_refusal = refuse_acting_key(acting_id, repeated)
if acting_refusal then return { acting_refusal } end
if repeated then return { 'REPEATED', latest() } end

local made_at = {}
if exists then
  if hash ~= '' and hash ~= key[1] then return { 'ID_TAKEN' } end
  if key[2] then return { 'KEY_REVOKED' } end
  hash, prefix, over_mcp = key[1], key[6], 'false'
else
  if hash == '' then return { 'UNKNOWN_KEY' } end
  if acting_id ~= '' and agent[2] ~= 'active' then return { 'AGENT_NOT_ACTIVE' } end
  if redis.call('HEXISTS', KEYS[5], hash) == 1 then return { 'HASH_TAKEN' } end
  if tonumber(agent[3] or '0') >= tonumber(ARGV[10]) then return { 'TOO_MANY_ACTIVE_KEYS' } end
  for at in string.gmatch(agent[4] or '', '%d+') do
    if tonumber(at) > now - DAY_MS then made_at[#made_at + 1] = at end
  end
  if over_mcp == 'true' and #made_at >= tonumber(ARGV[11]) then return { 'TOO_MANY_MCP_KEYS' } end
end

local created_by = exists and key[7] or (acting_id == '' and 'null' or acting_id)
local limit_json = 'null'
if limit ~= '' then limit_json = '{"limitNanoUsd":"' .. limit .. '","reset":"' .. reset .. '"}' end
local version = whole(tonumber(agent[1]) + 1)
local seq = emit('key_put', agent_id, version, ',"keyId":' .. key_id .. ',"label":' .. label .. ',"prefix":' .. prefix
  .. ',"hash":"' .. hash .. '","limit":' .. limit_json .. ',"createdByKeyId":' .. created_by
  .. ',"madeOverMcp":' .. over_mcp)
redis.call('HSET', KEYS[3], 'version', version)
redis.call('HSET', KEYS[4], key_id .. ':label', label)
if limit == '' then
  redis.call('HDEL', KEYS[4], key_id .. ':limit', key_id .. ':reset')
else
  redis.call('HSET', KEYS[4], key_id .. ':limit', limit, key_id .. ':reset', reset)
end
if not exists then
  redis.call('HSET', KEYS[4], key_id .. ':hash', hash, key_id .. ':prefix', prefix, key_id .. ':by', created_by,
    key_id .. ':created', whole(now))
  redis.call('HINCRBY', KEYS[3], 'active_keys', 1)
  redis.call('HSET', KEYS[5], hash, agent_id .. ':' .. key_id)
  if over_mcp == 'true' then
    made_at[#made_at + 1] = whole(now)
    redis.call('HSET', KEYS[3], 'mcp_keys', table.concat(made_at, ' '))
  end
end
return { 'OK', seq }
