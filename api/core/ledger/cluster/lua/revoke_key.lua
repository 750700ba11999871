-- KEYS: meta, outbox, agent, keys. ARGV: agent, key, acting key ('' for the operator), the key's version as its
-- sender read it ('' for any).

local agent_id, key_id = ARGV[1], ARGV[2]
local key = redis.call('HMGET', KEYS[4], key_id .. ':hash', key_id .. ':revoked', key_id .. ':version')
if not key[1] then return refused('UNKNOWN_KEY') end
local repeated = key[2] and true or false
local acting_refusal = refuse_acting_key(ARGV[3], repeated)
if acting_refusal then return refused(acting_refusal) end
if repeated then return { 'REPEATED', latest() } end
if has_changed(key[3], ARGV[4]) then return refused('CHANGED_SINCE') end

local version = whole(tonumber(redis.call('HGET', KEYS[3], 'version')) + 1)
local seq = emit('key_revoked', agent_id, version, ',"keyId":' .. key_id)
note_key_version(key_id, version)
redis.call('HINCRBY', KEYS[3], 'active_keys', -1)
redis.call('HSET', KEYS[4], key_id .. ':revoked', whole(now))
return { 'OK', seq }
