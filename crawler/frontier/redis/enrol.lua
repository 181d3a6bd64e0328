-- Note that a worker lives, in a new incarnation.
--
-- KEYS[1] is the fleet's own name. ARGV: worker, incarnation. Answer: its incarnation before, '' for none.
--
-- That one is over, and what it held is to be returned: by the worker itself, which enters the shards
-- next, or by others where it is killed before it has entered them all.

local beats, reaped = KEYS[1] .. ':beats', KEYS[1] .. ':reaped'
local before = string.match(redis.call('HGET', beats, ARGV[1]) or '', '^%S+')
if before == ARGV[2] then
  before = nil
elseif before then
  redis.call('HSET', reaped, before, ARGV[1])
end
redis.call('HSET', beats, ARGV[1], ARGV[2] .. ' 0')
return before or ''
