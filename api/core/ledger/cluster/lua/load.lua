-- KEYS: meta, one hash, set or sorted set. ARGV: nonce, the command that fills it, what it is filled with.

redis.call(ARGV[2], KEYS[2], unpack(ARGV, 3))
return { 'OK' }
