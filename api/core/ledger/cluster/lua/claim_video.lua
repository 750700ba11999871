-- Nobody else sends this video to its provider from now on.

if provider_job then return { 'SUBMITTED', latest() } end
if claimed_by == nonce then return { 'REPEATED', latest() } end
if claimed_by then return { 'CLAIMED', latest() } end
local seq = emit_next('video_claimed', ',"nonce":' .. nonce)
redis.call('HSET', KEYS[5], name .. ':claim', whole(now) .. ' ' .. nonce)
return { 'OK', seq }
