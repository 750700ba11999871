-- What every step of a shard begins with. KEYS[1] is the shard's meta, KEYS[2] its outbox.
local shard = redis.call('HMGET', KEYS[1], 'fence', 'epoch', 'seq', 'last_ms', 'outbox_bytes')
if shard[1] ~= identity() then return { 'FENCED' } end

-- The place of the latest event: what a repeated command was answered with is no later.
local function latest() return shard[2] .. '-' .. shard[3] end

-- A refusal rests on all that was decided before. While the log does not have all of that, the refusal says which event it
-- waits for, because what never reaches the log is given up, and then there would have been no reason to refuse.
local function refused(word, ...)
  return { word, tonumber(shard[5]) > 0 and latest() or '', ... }
end

-- The shard's time never steps back, whatever the node's clock does.
local last_ms = tonumber(shard[4])
local now = math.max(clock_ms, last_ms)

-- A time that a wrong clock has written: nothing may wait for it.
local function is_ahead(written) return written > now + CLOCK_APART_MAX_MS end
