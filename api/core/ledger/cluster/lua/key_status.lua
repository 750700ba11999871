-- KEYS: meta, outbox, agent, keys. ARGV: key.

local revoked = redis.call('HGET', KEYS[4], ARGV[1] .. ':revoked')
return { 'OK', revoked and 'revoked' or 'live', redis.call('HGET', KEYS[3], 'status') or '' }
