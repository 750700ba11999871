-- KEYS: meta, outbox, open videos of the shard, the agent's videos. ARGV: agent, video ('' to look for the key), key.

local video_id = ARGV[2]
if video_id == '' then video_id = redis.call('HGET', KEYS[4], 'key:' .. ARGV[3]) end
if not video_id then return { 'NONE', latest() } end
local name = video_name(ARGV[1], video_id)
local open = redis.call('HMGET', KEYS[3], name, name .. ':claim', name .. ':submitted')
if open[1] then return { 'OK', latest(), open[1], open[2] or '', open[3] or '', '' } end
local ended = redis.call('HMGET', KEYS[4], video_id, video_id .. ':claim', video_id .. ':submitted', video_id .. ':end')
if not is_kept(ended[4]) then return { 'NONE', latest() } end
return { 'OK', latest(), ended[1], ended[2] or '', ended[3] or '', ended[4] }
