-- Begin a fleet, or join one: the first worker says what it is, the others compare.
--
-- KEYS[1] is the fleet's own name. ARGV: names and values. Answer: those that hold.

local identity = KEYS[1] .. ':identity'
if redis.call('EXISTS', identity) == 0 then
  redis.call('HSET', identity, unpack(ARGV))
end
return redis.call('HGETALL', identity)
