-- Reads the entries of the log that may not be found elsewhere yet; writes nothing.
--
-- KEYS: state, heads (one slot)
-- ARGV: from      entries below are known to the reader
-- Reply: low, the oldest entry that is not written elsewhere; the next number; the time in seconds;
--        the first entry that is told, and the heads from there on
local from = tonumber(ARGV[1])
local state = redis.call('HMGET', KEYS[1], 'low', 'next')
local low, next = tonumber(state[1] or 0), tonumber(state[2] or 0)
local first = math.max(low, from)
-- The server has lost entries that the reader knows: it forgets them.
if from > next then first = low end
local reply = {low, next, tonumber(redis.call('TIME')[1]), first}
for number = first, next - 1 do
  reply[#reply + 1] = redis.call('HGET', KEYS[2], number)
end
return reply
