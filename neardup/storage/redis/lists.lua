-- Adds a record to a list of records of one length. A list that is full goes on in parts of its own,
-- of the same hash: the fields of its name and two bytes, the number of the part. The part 0 is the
-- number of the last part. Scripts that add to lists begin with this.
--
-- most    how many records the list may hold before it goes on in parts (0: any number)
-- each    how many records a part holds (0: what is beyond the list is left out)
-- once    whether the record may be there already
local LAST = '\0\0'

local function holds(held, record)
  local place = held:find(record, 1, true)
  while place do
    if (place - 1) % #record == 0 then return true end
    place = held:find(record, place + 1, true)
  end
  return false
end

local function add_to_part(key, field, record, each, once)
  local last = tonumber(redis.call('HGET', key, field .. LAST) or 1)
  local part = field .. struct.pack('>I2', last)
  local held = redis.call('HGET', key, part) or ''
  if once and holds(held, record) then return end
  if #held >= each * #record then
    last, held = last + 1, ''
    part = field .. struct.pack('>I2', last)
  end
  redis.call('HSET', key, part, held .. record, field .. LAST, last)
end

local function add(key, field, record, most, each, once)
  -- Most lists of a text that is like no other are new.
  if redis.call('HSETNX', key, field, record) == 1 then return end
  if most > 0 and redis.call('HSTRLEN', key, field) >= most * #record then
    if each > 0 then add_to_part(key, field, record, each, once) end
    return
  end
  local held = redis.call('HGET', key, field)
  if once and holds(held, record) then return end
  redis.call('HSET', key, field, held .. record)
end
