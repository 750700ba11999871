-- Numbers are doubles: all are whole and below 2^53, and only '%.0f' prints them exactly.
local function whole(number) return string.format('%.0f', number) end

-- A primary that fails over and back without a restart keeps its run_id, but not its master_replid.
local function identity()
  local info = redis.call('INFO', 'server', 'replication')
  return string.match(info, 'run_id:(%x+)') .. ':' .. string.match(info, 'master_replid:(%x+)')
end
