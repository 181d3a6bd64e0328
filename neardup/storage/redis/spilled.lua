-- Reads the parts of lists that are full (lists.lua); writes nothing.
--
-- KEYS: a hash of lists
-- ARGV: how many of the first parts are read; for each list its field and the first part that the
--       reader does not know
-- Reply: for each list the number of the last part, and parts: those from the first one on, and the
--        last one
local AT_ONCE = 1000
local most, fields = tonumber(ARGV[1]), {}
for at = 2, #ARGV, 2 do fields[#fields + 1] = ARGV[at] .. '\0\0' end
local lasts, replies, parts = redis.call('HMGET', KEYS[1], unpack(fields)), {}, {}
for place = 1, #fields do
  local field, first = ARGV[2 * place], tonumber(ARGV[2 * place + 1])
  local last = tonumber(lasts[place] or 0)
  replies[place] = { last }
  for part = first, math.min(last, most) do
    parts[#parts + 1] = { replies[place], field .. struct.pack('>I2', part) }
  end
  if last > most then
    parts[#parts + 1] = { replies[place], field .. struct.pack('>I2', last) }
  end
end
for start = 1, #parts, AT_ONCE do
  local asked = {}
  for place = start, math.min(start + AT_ONCE - 1, #parts) do asked[#asked + 1] = parts[place][2] end
  for place, stored in ipairs(redis.call('HMGET', KEYS[1], unpack(asked))) do
    local reply = parts[start + place - 1][1]
    reply[#reply + 1] = stored
  end
end
return replies
