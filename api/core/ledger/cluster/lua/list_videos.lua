-- KEYS: meta, outbox, open videos of the shard.

return { 'OK', latest(), redis.call('HGETALL', KEYS[3]) }
