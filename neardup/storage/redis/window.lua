-- Reads the entries of the log that may not be found elsewhere yet, and what is found elsewhere at
-- the same moment; writes nothing.
--
-- KEYS: state, heads (one slot); one server alone: the hash of each question
-- ARGV: from      entries below are known to the reader
--       last      the entry before, as the reader knows it; empty if it knows none
--       then, for each question: its command, how many fields it asks for, and these
-- Reply: 1 if what the reader knows is true, 0 if the server has lost some of it; low, the oldest
--        entry that is not written elsewhere; the next number; the entry before that; the time in
--        seconds, 0 where no entry waits to be written elsewhere; the first entry that is told;
--        the answers to the questions; and the entries from there on
local from, last = tonumber(ARGV[1]), ARGV[2]
local state = redis.call('HMGET', KEYS[1], 'low', 'next')
local low, next = tonumber(state[1] or 0), tonumber(state[2] or 0)
-- A server that was cut off from power gives numbers again.
local is_true = last == '' or redis.call('HGET', KEYS[2], from - 1) == last
local first = is_true and math.max(low, from) or low
local answers, at = {}, 3
for place = 3, #KEYS do
  local last_field = at + 1 + tonumber(ARGV[at + 1])
  local answer = redis.pcall(ARGV[at], KEYS[place], unpack(ARGV, at + 2, last_field))
  -- Of all keys the one that another program wrote.
  if answer and answer.err then return redis.error_reply(answer.err .. ' in ' .. KEYS[place]) end
  answers[place - 2] = answer
  at = last_field + 1
end
local is_known = is_true and last ~= '' and next == from
local reply = {
  is_true and 1 or 0, low, next, is_known and last or redis.call('HGET', KEYS[2], next - 1) or '',
  low < next and tonumber(redis.call('TIME')[1]) or 0, first, answers,
}
for number = first, next - 1 do
  reply[#reply + 1] = redis.call('HGET', KEYS[2], number)
end
return reply
