-- KEYS: meta, outbox, agents, key hashes, open calls, agents by the end of their first lot, open
-- videos. ARGV: nonce. A recoverer takes a fenced shard for itself: whoever
-- claims later takes it away again, and only the last claimer's loads and opening count. Answers the agents of which
-- something may still stand here.

if redis.call('HGET', KEYS[1], 'fence') == identity() then return { 'OPEN' } end
redis.call('HDEL', KEYS[1], 'fence')
redis.call('HSET', KEYS[1], 'claim', ARGV[1], 'claimed_by', identity())
redis.call('UNLINK', KEYS[2], KEYS[4], KEYS[5], KEYS[6], KEYS[7])
return { 'OK', redis.call('SMEMBERS', KEYS[3]) }
