-- ARGV[4]: the provider's job as JSON.

if claimed_by ~= nonce then return { 'NOT_CLAIMED', latest() } end
if provider_job then
  if provider_job == ARGV[4] then return { 'REPEATED', latest() } end
  return { 'NOT_CLAIMED', latest() }
end
local seq = emit_next('video_submitted', ',"providerJobId":' .. ARGV[4])
redis.call('HSET', KEYS[5], name .. ':submitted', whole(now) .. ' ' .. ARGV[4])
return { 'OK', seq }
