-- KEYS: meta, outbox, open calls of the shard.

return { 'OK', redis.call('ZRANGE', KEYS[3], '0', '-1') }
