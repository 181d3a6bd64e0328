-- Note that a worker still lives, and tell how the others do.
--
-- KEYS[1] is the fleet's own name. ARGV: worker, incarnation. Answer: whether it is known (0 where
-- it was taken for dead), the heartbeats of all, and the incarnations
-- whose leases are to be returned, each with its worker.

local beats, reaped = KEYS[1] .. ':beats', KEYS[1] .. ':reaped'
local known = redis.call('HGET', beats, ARGV[1])
local incarnation, number = string.match(known or '', '^(%S+) (%d+)$')
local is_known = incarnation == ARGV[2]
if is_known then
  redis.call('HSET', beats, ARGV[1], string.format('%s %.0f', incarnation, number + 1))
end
return {is_known and 1 or 0, redis.call('HGETALL', beats), redis.call('HGETALL', reaped)}
