-- What every step that changes an agent shares; follows shard.lua. KEYS[3] is the agent.

local DAY_MS = 86400000
local function start_of_day(ms) return ms - ms % DAY_MS end

-- Totals of a lifetime are added by HINCRBY as 64-bit integers: they end at $9.2 billion an agent, a thousand times the
-- largest balance.

-- The first write of a step: where it fails, nothing has changed. The event's body has no envelope yet.
local function emit(kind, agent_id, version, body)
  local seq = whole(tonumber(shard[3]) + 1)
  local event = '{"v":1,"type":"' .. kind .. '","agentId":' .. agent_id .. ',"version":' .. version
    .. ',"atMs":' .. whole(now) .. body .. '}'
  -- A publisher that has emptied the outbox sleeps until it is told; one that has not looks again by itself.
  if redis.call('XLEN', KEYS[2]) == 0 then redis.call('PUBLISH', KEYS[1] .. ':wake', seq) end
  redis.call('XADD', KEYS[2], shard[2] .. '-' .. seq, 'event', event, 'at', whole(now))
  redis.call('HSET', KEYS[1], 'seq', seq, 'outbox_bytes', whole(tonumber(shard[5]) + #event))
  return shard[2] .. '-' .. seq
end

-- Lots stand in the agent as 'expiry:free:held ...', soonest expiry first.
local function read_lots(text)
  local lots = {}
  for expires, free, held in string.gmatch(text or '', '(%d+):(%d+):(%d+)') do
    lots[#lots + 1] = { expires = tonumber(expires), free = tonumber(free), held = tonumber(held) }
  end
  return lots
end

-- Empty ones are dropped.
local function write_lots(lots)
  local parts = {}
  for _, lot in ipairs(lots) do
    if lot.free > 0 or lot.held > 0 then
      parts[#parts + 1] = whole(lot.expires) .. ':' .. whole(lot.free) .. ':' .. whole(lot.held)
    end
  end
  return table.concat(parts, ' ')
end

local function find_lot(lots, expires)
  for _, lot in ipairs(lots) do
    if lot.expires == expires then return lot end
  end
  return nil
end

-- The lot of that day, made in its place when there is none.
local function lot_of(lots, expires)
  for place, lot in ipairs(lots) do
    if lot.expires == expires then return lot end
    if lot.expires > expires then
      table.insert(lots, place, { expires = expires, free = 0, held = 0 })
      return lots[place]
    end
  end
  lots[#lots + 1] = { expires = expires, free = 0, held = 0 }
  return lots[#lots]
end

local function balance_of(lots)
  local sum = 0
  for _, lot in ipairs(lots) do sum = sum + lot.free + lot.held end
  return sum
end

-- Pairs 'expiry:amount' as the allocations of an event.
local function allocations_json(pairs_text)
  local parts = {}
  for expires, amount in string.gmatch(pairs_text, '(%d+):(%d+)') do
    parts[#parts + 1] = '{"expiresAtMs":' .. expires .. ',"nanoUsd":"' .. amount .. '"}'
  end
  return '[' .. table.concat(parts, ',') .. ']'
end
