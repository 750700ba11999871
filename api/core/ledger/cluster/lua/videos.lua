-- Videos. The shard's hash has all of each open one: '<agent>:<video>' as JSON, and with ':claim' and ':submitted' behind it
-- '<time> <nonce or job as JSON>'. The agent's hash has the ended ones, without the agent before their names, with ':end'
-- as JSON, and which video an Idempotency-Key names, as 'key:<key>'.

local function video_name(agent_id, video_id) return agent_id .. ':' .. video_id end

-- Known for a day behind its end, whenever it is cleared away.
local function is_kept(ended) return ended and now < tonumber(string.match(ended, '^{"atMs":(%d+)')) + ENDED_VIDEO_KEPT_MS end
