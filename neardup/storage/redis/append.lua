-- Adds records to lists of a hash, once; after lists.lua. A list that is full may get a record
-- again, which readers know.
--
-- KEYS: a hash of lists
-- ARGV: how many records a list may hold and how many a part (lists.lua); for each list its field and
--       a record
local fields, records = {}, {}
for at = 3, #ARGV, 2 do
  fields[#fields + 1], records[#records + 1] = ARGV[at], ARGV[at + 1]
end
add(KEYS[1], fields, records, tonumber(ARGV[1]), tonumber(ARGV[2]), true)
return 1
