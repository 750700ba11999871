-- KEYS: meta, outbox, agents of the shard.

return { 'OK', redis.call('SMEMBERS', KEYS[3]) }
