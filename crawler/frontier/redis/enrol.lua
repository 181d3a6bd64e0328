-- Note that a worker lives, in a new incarnation.
--
-- KEYS[1] is the fleet's own name. ARGV: worker, incarnation.

redis.call('HSET', KEYS[1] .. ':beats', ARGV[1], ARGV[2] .. ' 0')
redis.call('HDEL', KEYS[1] .. ':reaped', ARGV[1])
return 1
