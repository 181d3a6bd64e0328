-- Take a worker for dead, unless it has beaten since; what it holds is to be returned then.
--
-- KEYS[1] is the fleet's own name. ARGV: worker, its last heartbeat. Answer: 1 where it is reaped.

local beats, reaped = KEYS[1] .. ':beats', KEYS[1] .. ':reaped'
local incarnation = string.match(ARGV[2], '^%S+')
if redis.call('HGET', beats, ARGV[1]) == ARGV[2] then
  redis.call('HDEL', beats, ARGV[1])
  redis.call('HSET', reaped, incarnation, ARGV[1])
end
return redis.call('HEXISTS', reaped, incarnation)
