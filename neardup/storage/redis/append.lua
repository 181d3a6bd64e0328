-- Adds a record to a list of records of one length, once.
--
-- KEYS: a hash of lists
-- ARGV: field, record, and how many records a list may hold (0: any number)
local field, record, most = ARGV[1], ARGV[2], tonumber(ARGV[3])
local held = redis.call('HGET', KEYS[1], field) or ''
local place = held:find(record, 1, true)
while place do
  if (place - 1) % #record == 0 then return 0 end
  place = held:find(record, place + 1, true)
end
if most > 0 and #held >= most * #record then return 0 end
redis.call('HSET', KEYS[1], field, held .. record)
return 1
