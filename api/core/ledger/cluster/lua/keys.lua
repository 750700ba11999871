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
