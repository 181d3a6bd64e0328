-- Forget an incarnation of a worker of which nothing is left to return.
--
-- KEYS[1] is the fleet's own name. ARGV: worker, incarnation.

local beats, reaped = KEYS[1] .. ':beats', KEYS[1] .. ':reaped'
local beat = redis.call('HGET', beats, ARGV[1])
if beat and string.match(beat, '^%S+') == ARGV[2] then
  redis.call('HDEL', beats, ARGV[1])
end
redis.call('HDEL', reaped, ARGV[2])
return 1
