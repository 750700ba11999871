-- That nobody has a claim is what a withdrawal asks for, and so how a repeated one is answered.

if provider_job then return { 'SUBMITTED', latest() } end
if not claimed_by then return { 'REPEATED', latest() } end
if claimed_by ~= nonce then return { 'NOT_CLAIMED', latest() } end
local seq = emit_next('video_withdrawn', '')
redis.call('HDEL', KEYS[5], name .. ':claim')
return { 'OK', seq }
