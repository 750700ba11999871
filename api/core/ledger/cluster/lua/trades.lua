-- Trades done, each way apart. KEYS[5] trade -> 'result expired detail', KEYS[6] the time until which each is known.

local function find_trade(name)
  local until_ms = redis.call('ZSCORE', KEYS[6], name)
  if not until_ms or tonumber(until_ms) <= now then return nil end
  return string.match(redis.call('HGET', KEYS[5], name), '^(%S+) (%d+) ?(%S*)$')
end

local function keep_trade(name, result, expired, until_ms, detail)
  local old = redis.call('ZRANGE', KEYS[6], '-inf', whole(now), 'BYSCORE', 'LIMIT', 0, TRADES_CLEARED_AT_ONCE)
  if #old > 0 then
    redis.call('HDEL', KEYS[5], unpack(old))
    redis.call('ZREM', KEYS[6], unpack(old))
  end
  redis.call('HSET', KEYS[5], name, result .. ' ' .. expired .. ' ' .. detail)
  redis.call('ZADD', KEYS[6], whole(until_ms), name)
end
