-- Notes that an entry of the log is written elsewhere, and forgets heads that are old; after
-- heads.lua.
--
-- KEYS: the log, bodies (one slot)
-- ARGV: number    of the entry
--       kept      so many heads below the oldest unwritten entry stay at least, for senders that are
--                 slow
redis.call('HDEL', KEYS[2], ARGV[1])
local state = redis.call('HMGET', KEYS[1], 'low', 'next', 'oldest')
local low, next = tonumber(state[1] or 0), tonumber(state[2] or 0)
while low < next and redis.call('HEXISTS', KEYS[2], low) == 0 do low = low + 1 end
local oldest = forget_heads(KEYS[1], tonumber(state[3] or 0), low, tonumber(ARGV[2]))
redis.call('HSET', KEYS[1], 'low', low, 'oldest', oldest)
return low
