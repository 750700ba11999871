-- KEYS: meta, outbox. How far the log is known to have the shard's events.

local known = redis.call('HMGET', KEYS[1], 'acked', 'offset', 'nonce')
return { 'OK', shard[2], known[1], known[2], known[3] }
