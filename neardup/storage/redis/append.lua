-- Adds a record to a list, once; after lists.lua. One that is full may get a record again, which
-- readers know.
--
-- KEYS: a hash of lists
-- ARGV: field, record, how many records the list may hold and how many a part (lists.lua)
add(KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), true)
return 1
