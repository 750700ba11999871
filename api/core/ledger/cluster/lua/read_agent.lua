-- KEYS: meta, outbox, agent, holds, slots, keys, status by source. One moment of one agent.

local agent = redis.call('HGETALL', KEYS[3])
if #agent == 0 then return { 'NONE' } end
return { 'OK', latest(), whole(now), agent, redis.call('HGETALL', KEYS[4]),
  redis.call('ZRANGE', KEYS[5], '(' .. whole(now), '+inf', 'BYSCORE', 'WITHSCORES'),
  redis.call('HGETALL', KEYS[6]), redis.call('HGETALL', KEYS[7]) }
