-- Reads the parts of a list that is full (lists.lua); writes nothing.
--
-- KEYS: a hash of lists
-- ARGV: field, the first part that the reader does not know, how many of the first parts it reads
-- Reply: the number of the last part, and parts: those from the first one on, and the last one
local field, first, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local last = tonumber(redis.call('HGET', KEYS[1], field .. '\0\0') or 0)
local reply = { last }
for part = first, math.min(last, most) do
  reply[#reply + 1] = redis.call('HGET', KEYS[1], field .. struct.pack('>I2', part))
end
if last > most then
  reply[#reply + 1] = redis.call('HGET', KEYS[1], field .. struct.pack('>I2', last))
end
return reply
