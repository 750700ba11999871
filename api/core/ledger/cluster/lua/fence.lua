-- KEYS: meta. ARGV: epoch. A mark of this epoch stands in the log: a node that is still in an older one decides nothing
-- that counts, and has to be rebuilt.

local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch or tonumber(epoch) >= tonumber(ARGV[1]) then return { 'NEWER' } end
redis.call('HDEL', KEYS[1], 'fence')
return { 'OK' }
