-- KEYS: meta, outbox. How far the log is known to have the shard's events; the node's clock and the shard's remembered time.

local known = redis.call('HMGET', KEYS[1], 'acked', 'offset', 'nonce')
return { 'OK', shard[2], known[1], known[2], known[3], whole(clock_ms), whole(last_ms) }
