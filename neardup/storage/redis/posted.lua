-- Notes that an entry of the log is written elsewhere, and forgets entries that are old.
--
-- KEYS: state, heads, bodies (one slot)
-- ARGV: number    of the entry
--       kept      so many heads below the oldest unwritten entry stay, for senders that are slow
local AT_ONCE = 1000

redis.call('HDEL', KEYS[3], ARGV[1])
local state = redis.call('HMGET', KEYS[1], 'low', 'next', 'oldest')
local low, next = tonumber(state[1] or 0), tonumber(state[2] or 0)
local oldest = tonumber(state[3] or 0)
while low < next and redis.call('HEXISTS', KEYS[3], low) == 0 do low = low + 1 end
local till = math.min(low - tonumber(ARGV[2]), oldest + AT_ONCE)
while oldest < till do
  redis.call('HDEL', KEYS[2], oldest)
  oldest = oldest + 1
end
redis.call('HSET', KEYS[1], 'low', low, 'oldest', oldest)
return low
