-- KEYS: meta, agents of the shard, all of one agent. ARGV: nonce, agent.

redis.call('UNLINK', unpack(KEYS, 3))
redis.call('SREM', KEYS[2], ARGV[2])
return { 'OK' }
