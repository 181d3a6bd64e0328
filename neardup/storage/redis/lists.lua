-- Adds records to lists of one hash, one to each of them. A list that is full goes on in parts of its
-- own, of the same hash: the fields of its name and two bytes, the number of the part. The part 0 is
-- the number of the last part. Scripts that add to lists begin with this. All lists are read by one
-- command and written by another one, since each command costs more than its bytes.
--
-- most    how many records a list may hold before it goes on in parts
-- each    how many records a part holds
-- once    whether a record may be there already
local LAST = '\0\0'

local function holds(held, record)
  local place = held:find(record, 1, true)
  while place do
    if (place - 1) % #record == 0 then return true end
    place = held:find(record, place + 1, true)
  end
  return false
end

local function part_of(field, number)
  return field .. struct.pack('>I2', number)
end

local function add_to_parts(key, full, each, once, written)
  local fields = {}
  for place, list in ipairs(full) do fields[place] = list.field .. LAST end
  local lasts = redis.call('HMGET', key, unpack(fields))
  for place, list in ipairs(full) do
    lasts[place] = tonumber(lasts[place] or 1)
    fields[place] = part_of(list.field, lasts[place])
  end
  local parts = redis.call('HMGET', key, unpack(fields))
  for place, list in ipairs(full) do
    local held, last, record = parts[place] or '', lasts[place], list.record
    if not (once and holds(held, record)) then
      if #held >= each * #record then last, held = last + 1, '' end
      local at = #written
      written[at + 1], written[at + 2] = part_of(list.field, last), held .. record
      written[at + 3], written[at + 4] = list.field .. LAST, last
    end
  end
end

local function add(key, fields, records, most, each, once)
  local lists, written, full = redis.call('HMGET', key, unpack(fields)), {}, {}
  for place, record in ipairs(records) do
    local field, held = fields[place], lists[place]
    if held and #held >= most * #record then
      full[#full + 1] = { field = field, record = record }
    elseif not (held and once and holds(held, record)) then
      written[#written + 1] = field
      written[#written + 1] = held and held .. record or record
    end
  end
  if #full > 0 then add_to_parts(key, full, each, once, written) end
  if #written > 0 then redis.call('HSET', key, unpack(written)) end
end
