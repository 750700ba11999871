-- KEYS: meta, outbox. ARGV: where to begin, how many at the most. What a fenced node still has that nobody may have taken
-- to the log.

return { 'OK', redis.call('XRANGE', KEYS[2], ARGV[1], '+', 'COUNT', ARGV[2]) }
