-- KEYS: meta, outbox, agent, keys. ARGV: agent, key, label as JSON ('' to keep it), limit ('' for none, 'keep' to keep
-- it), reset, acting key ('' for the operator), the key's version as its sender read it ('' for any).

local agent_id, key_id, label, limit, reset = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local key = redis.call('HMGET', KEYS[4], key_id .. ':hash', key_id .. ':revoked', key_id .. ':label', key_id .. ':limit',
  key_id .. ':reset', key_id .. ':prefix', key_id .. ':by', key_id .. ':version')
if not key[1] then return refused('UNKNOWN_KEY') end

local limit_is, reset_is = key[4] or '', key[5] or ''
if label == '' then label = key[3] end
if limit == 'keep' then limit, reset = limit_is, reset_is end
local repeated = not key[2] and label == key[3] and limit == limit_is and reset == reset_is
local acting_refusal = refuse_acting_key(ARGV[6], repeated)
if acting_refusal then return refused(acting_refusal) end
if key[2] then return refused('KEY_REVOKED') end
if repeated then return { 'REPEATED', latest() } end
if has_changed(key[8], ARGV[7]) then return refused('CHANGED_SINCE') end

local seq = write_key(agent_id, redis.call('HGET', KEYS[3], 'version'), key_id, {
  label = label, prefix = key[6], hash = key[1], limit = limit, reset = reset, created_by = key[7], over_mcp = 'false',
})
return { 'OK', seq }
