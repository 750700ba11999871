-- An agent's keys. KEYS[4]: fields '<key>:<what>'.

-- Only a key without a spending limit manages keys. A repeated command is answered as it was even when its acting
-- key has been revoked since, as by its own command.
local function refuse_acting_key(acting_id, repeated)
  if acting_id == '' then return nil end
  local acting = redis.call('HMGET', KEYS[4], acting_id .. ':hash', acting_id .. ':revoked', acting_id .. ':limit')
  if not acting[1] or acting[2] then
    if repeated then return nil end
    return 'ACTING_KEY_REVOKED'
  end
  if acting[3] then return 'ACTING_KEY_LIMITED' end
  return nil
end

-- Whether a key has changed since the version that the sender read; '' for a sender that rests on nothing. An absent
-- version is that of a release that did not count them.
local function has_changed(version, read_version)
  return read_version ~= '' and tonumber(version or '0') ~= tonumber(read_version)
end

local function note_key_version(key_id, version)
  redis.call('HSET', KEYS[3], 'version', version, 'keys_version', version)
  redis.call('HSET', KEYS[4], key_id .. ':version', version)
end

-- The event of a key that is made or changed, the step's first write, and what of it can change. The limit is '' for none.
local function write_key(agent_id, agent_version, key_id, key)
  local limit_json = 'null'
  if key.limit ~= '' then limit_json = '{"limitNanoUsd":"' .. key.limit .. '","reset":"' .. key.reset .. '"}' end
  local version = whole(tonumber(agent_version) + 1)
  local seq = emit('key_put', agent_id, version, ',"keyId":' .. key_id .. ',"label":' .. key.label .. ',"prefix":'
    .. key.prefix .. ',"hash":"' .. key.hash .. '","limit":' .. limit_json .. ',"createdByKeyId":' .. key.created_by
    .. ',"madeOverMcp":' .. key.over_mcp)
  note_key_version(key_id, version)
  redis.call('HSET', KEYS[4], key_id .. ':label', key.label)
  if key.limit == '' then
    redis.call('HDEL', KEYS[4], key_id .. ':limit', key_id .. ':reset')
  else
    redis.call('HSET', KEYS[4], key_id .. ':limit', key.limit, key_id .. ':reset', key.reset)
  end
  return seq
end
