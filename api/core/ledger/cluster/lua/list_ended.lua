-- KEYS: meta, outbox, agents by the end of their first lot. ARGV: until when.

return { 'OK', redis.call('ZRANGE', KEYS[3], '-inf', ARGV[1], 'BYSCORE') }
