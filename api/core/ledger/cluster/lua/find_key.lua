-- KEYS: meta, outbox, key hashes of the shard. ARGV: hash. The owner of a key never changes. Answers the epoch, too.

return { 'OK', redis.call('HGET', KEYS[3], ARGV[1]) or '', shard[2] }
