-- KEYS: meta, outbox. ARGV: nonce, epoch, seq, time, offset. The claimed shard is whole: from here on it decides.

-- Its time goes on from its last event's, unless a wrong clock has made that one.
local last_ms = tonumber(ARGV[4])
if last_ms > clock_ms + CLOCK_APART_MAX_MS then last_ms = clock_ms end
redis.call('UNLINK', KEYS[2])
redis.call('HSET', KEYS[1], 'fence', identity(), 'epoch', ARGV[2], 'seq', ARGV[3], 'acked', ARGV[3], 'last_ms', whole(last_ms),
  'offset', ARGV[5], 'nonce', ARGV[1], 'outbox_bytes', '0', 'opened_ms', whole(clock_ms))
redis.call('HDEL', KEYS[1], 'claim', 'claimed_by')
return { 'OK' }
