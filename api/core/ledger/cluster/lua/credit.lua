-- An agent that credit may make. KEYS[4] is the set of the shard's agents.

-- Credit may name an agent that nobody has announced: it is made, inactive.
local function make_agent(agent_id)
  redis.call('HSET', KEYS[3], 'name', '"agent ' .. agent_id .. '"', 'token', 'null', 'created', whole(now),
    'status', 'inactive', 'tat_us', '0')
  redis.call('SADD', KEYS[4], agent_id)
end
