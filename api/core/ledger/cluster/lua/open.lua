-- KEYS: meta, outbox. ARGV: nonce, epoch, seq, time, offset. The claimed shard is whole: from here on it decides.

redis.call('UNLINK', KEYS[2])
redis.call('HSET', KEYS[1], 'fence', identity(), 'epoch', ARGV[2], 'seq', ARGV[3], 'acked', ARGV[3], 'last_ms', ARGV[4],
  'offset', ARGV[5], 'nonce', ARGV[1], 'outbox_bytes', '0', 'opened_ms', whole(clock_ms))
redis.call('HDEL', KEYS[1], 'claim', 'claimed_by')
return { 'OK' }
