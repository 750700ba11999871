-- KEYS: meta, outbox. What a fenced node still has that nobody may have taken to the log.

return { 'OK', redis.call('XRANGE', KEYS[2], '-', '+') }
