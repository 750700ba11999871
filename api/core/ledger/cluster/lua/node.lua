-- Numbers are doubles: all are whole and below 2^53, and only '%.0f' prints them exactly.
local function whole(number) return string.format('%.0f', number) end

-- A primary that fails over and back without a restart keeps its run_id, but not its master_replid.
-- Each is 40 digits behind its name. A pattern would be tried at every place of a long text; a plain search is not.
local function identity()
  local info = redis.call('INFO', 'server', 'replication')
  local _, run = string.find(info, '\nrun_id:', 1, true)
  local _, replid = string.find(info, '\nmaster_replid:', run, true)
  return string.sub(info, run + 1, run + 40) .. ':' .. string.sub(info, replid + 1, replid + 40)
end
