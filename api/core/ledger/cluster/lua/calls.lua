-- A call's hold and its end. KEYS[4] holds, KEYS[5] ended calls.

-- 'key kind amount started time-limit allocations nonce'; the nonce, as JSON, is last.
local function read_hold(call_id)
  local text = redis.call('HGET', KEYS[4], call_id)
  if not text then return nil end
  local key_id, kind, amount, started, limit, allocations, nonce =
    string.match(text, '^(%d+) (%a+) (%d+) (%d+) (%d+) (%S+) (.+)$')
  return {
    key_id = key_id, kind = kind, amount = tonumber(amount), started = tonumber(started),
    limit = tonumber(limit), allocations = allocations, nonce = nonce,
  }
end

-- 'charged settled-at nonce', known for an hour, whenever it is cleared away.
local function read_done(call_id)
  local text = redis.call('HGET', KEYS[5], call_id)
  if not text then return nil end
  local charged, settled, nonce = string.match(text, '^(%d+) (%d+) (.+)$')
  if now >= tonumber(settled) + DONE_KEPT_MS then return nil end
  return { charged = charged, nonce = nonce }
end

-- For a call without a hold: how it ended, in the step's own word, or that nobody knows it.
local function without_hold(call_id, word)
  local done = read_done(call_id)
  if done then return { word, latest(), done.charged } end
  -- What it rests on may be an event that the log does not have yet, or a node whose time has passed.
  return { 'NO_HOLD', latest() }
end

-- A call whose process gave it up before the ledger had heard of it. A mark is needed until its id is too old to start
-- anything; at the bound the oldest mark stands for every older id. An id that a wrong clock dated ahead starts nothing
-- before its time, but a late reserve may arrive when it does. As the oldest mark it would stand for every call of the
-- processes whose clocks are right, so at the bound such ids go first.
local function note_given_up(marks, call_id, made_at)
  redis.call('ZADD', marks, whole(made_at), call_id)
  redis.call('ZREMRANGEBYSCORE', marks, '-inf', '(' .. whole(now - CALL_ID_AGE_MAX_MS))
  redis.call('ZREMRANGEBYSCORE', marks, '(' .. whole(now + GIVEN_UP_AHEAD_MAX_MS), '+inf')
  if redis.call('ZCARD', marks) >= GIVEN_UP_CALLS_MAX then
    redis.call('ZREMRANGEBYSCORE', marks, '(' .. whole(now + CLOCK_APART_MAX_MS), '+inf')
  end
  redis.call('ZREMRANGEBYRANK', marks, 0, -GIVEN_UP_CALLS_MAX - 1)
  -- The key expires by Redis' own clock, which may be behind the shard's time: when every mark's id is too old to start.
  redis.call('PEXPIRE', marks, whole(now - clock_ms + GIVEN_UP_AHEAD_MAX_MS + CALL_ID_AGE_MAX_MS))
end

local function is_given_up(marks, call_id, made_at)
  local count = redis.call('ZCARD', marks)
  if count == 0 then return false end
  if count >= GIVEN_UP_CALLS_MAX then
    local oldest = tonumber(redis.call('ZRANGE', marks, 0, 0, 'WITHSCORES')[2])
    if made_at <= oldest and not is_ahead(oldest) then return true end
  end
  return redis.call('ZSCORE', marks, call_id) and true or false
end

-- What is due at the shard, as 'agent:call', by the time from which the call counts as an orphan.
local function open_name(agent_id, call_id) return agent_id .. ':' .. call_id end
