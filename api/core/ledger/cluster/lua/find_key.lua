-- KEYS: meta, outbox, key hashes of the shard. ARGV: hash. The owner of a key never changes.

return { 'OK', latest(), redis.call('HGET', KEYS[3], ARGV[1]) or '' }
