-- Reads the entries of the log that may not be found elsewhere yet, and what is found elsewhere at
-- the same moment; writes nothing.
--
-- KEYS: the log; one server alone: each hash of lists that are asked for
-- ARGV: from      entries below are known to the reader
--       last      the entry before, as the reader knows it; empty if it knows none
--       then, for each hash, how many fields are asked for, and these
-- Reply: 1 if what the reader knows is true, 0 if the server has lost some of it; low, the oldest
--        entry that is not written elsewhere; the next number; the entry before that; the time in
--        seconds, 0 where no entry waits to be written elsewhere; the first entry that is told;
--        the lists of each hash; and the entries from there on
local AT_ONCE = 1000
local from, last = tonumber(ARGV[1]), ARGV[2]
local state = redis.call('HMGET', KEYS[1], 'low', 'next', 'last', from - 1)
local low, next = tonumber(state[1] or 0), tonumber(state[2] or 0)
-- A server that was cut off from power gives numbers again.
local is_true = last == '' or state[4] == last
local first = is_true and math.max(low, from) or low
local answers, at = {}, 3
for place = 2, #KEYS do
  local last_field = at + tonumber(ARGV[at])
  local answer = redis.pcall('HMGET', KEYS[place], unpack(ARGV, at + 1, last_field))
  -- Of all keys the one that another program wrote.
  if answer.err then return redis.error_reply(answer.err .. ' in ' .. KEYS[place]) end
  answers[place - 1] = answer
  at = last_field + 1
end
local reply = {
  is_true and 1 or 0, low, next, state[3] or '',
  low < next and tonumber(redis.call('TIME')[1]) or 0, first, answers,
}
for start = first, next - 1, AT_ONCE do
  local numbers = {}
  for number = start, math.min(start + AT_ONCE, next) - 1 do numbers[#numbers + 1] = number end
  for _, entry in ipairs(redis.call('HMGET', KEYS[1], unpack(numbers))) do
    reply[#reply + 1] = entry
  end
end
return reply
