-- Adds a text to the log of commits, unless one that its sender has not compared it with is near.
-- Scripts run one at a time, so of two texts that are near each other and come at one moment the
-- second is refused here: its sender looks again, finds the first and compares.
--
-- KEYS: the log, bodies (one slot); where it is written elsewhere in the same step, which one server
--       alone can do, the hash of the lists that it is added to
-- ARGV: known     the sender has compared its text with every entry below this number
--       read_to   the number of the next entry when the sender read the log
--       last      the entry before that one, as the sender read it; empty if there was none
--       radius    bits within which a fingerprint is near
--       unequal   bytes in which the sketches of near texts that share a band may differ
--       names     "1": a text that is for certain of another name is not near
--       keeps     "1": only the same text of the same owner counts
--       head      owner (16 bytes), text digest (16), flags (1), payload digest (16),
--                 fingerprint (8), sketch (16 bands of 4), marks of heading, title, the first
--                 segment of that, kind and value of an identifier (4 each); head_format.py
--       body      all that is to be written elsewhere
--       then, with a further key: how many heads below the oldest unwritten entry stay; 4 bytes by
--       which this entry differs from one of its number that the server has lost; before the number,
--       the key of the text and that of the bytes beside it; these bytes, or none; how many records
--       a list may hold and how many a part (lists.lua, which this follows); and for each list its
--       field and a record of it but for the number, which are its last 5 bytes
-- Reply: the number of the new entry, or -1; the number below which all entries were compared; the
--        entry before that one; how many are near but for certain of other names; if it is -1, number
--        and head of each entry that is near, and none where entries that were to be compared are not
--        known, or others than those that the sender read
local OWNER_END, DIGEST_END, FLAGS, PAYLOAD_END, FINGERPRINT_END, SKETCH_END = 16, 32, 33, 49, 57, 121
local HEADING, TITLE, FIRST, KIND, VALUE, MARK_BYTES = 122, 126, 130, 134, 138, 4
local HAS_PAYLOAD, HAS_FINGERPRINT, HAS_SKETCH, IS_HEADED_BY_TITLE = 1, 2, 4, 8
local LOG_KEYS, FIRST_LIST, AT_ONCE = 2, 17, 1000
local BAND_BYTES, NO_MARK = 4, string.rep('\0', MARK_BYTES)

local known, read_to, read_last = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local radius, max_unequal, compares_names = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6] == '1'
local keeps, head, body = ARGV[7] == '1', ARGV[8], ARGV[9]
local flags = head:byte(FLAGS)

local function set_bits(byte)
  local count = 0
  while byte > 0 do
    byte = bit.band(byte, byte - 1)
    count = count + 1
  end
  return count
end

local function is_within(other)
  local distance = 0
  for place = PAYLOAD_END + 1, FINGERPRINT_END do
    distance = distance + set_bits(bit.bxor(head:byte(place), other:byte(place)))
    if distance > radius then return false end
  end
  return true
end

local function shares_band(other)
  for start = FINGERPRINT_END + 1, SKETCH_END, BAND_BYTES do
    local last = start + BAND_BYTES - 1
    if head:sub(start, last) == other:sub(start, last) then return true end
  end
  return false
end

local function is_similar(other)
  local unequal = 0
  for place = FINGERPRINT_END + 1, SKETCH_END do
    if head:byte(place) ~= other:byte(place) then unequal = unequal + 1 end
  end
  return unequal <= max_unequal
end

local function both(flag, other)
  return bit.band(flags, bit.band(other:byte(FLAGS), flag)) ~= 0
end

local function mark(of, start)
  return of:sub(start, start + MARK_BYTES - 1)
end

local function differ(other, start)
  local ours, theirs = mark(head, start), mark(other, start)
  return ours ~= theirs and ours ~= NO_MARK and theirs ~= NO_MARK
end

-- Never wrong, as are_other in kept_facts.py: of equal titles the one page may head with its name
-- and the other one with the name of the site.
local function is_other(other)
  if differ(other, FIRST) then return true end
  if differ(other, VALUE) and mark(head, KIND) == mark(other, KIND) then return true end
  local may_be_one = both(IS_HEADED_BY_TITLE, other) and mark(head, TITLE) == mark(other, TITLE)
  return differ(other, HEADING) and not may_be_one
end

local function is_same(other)
  local same_text = head:sub(OWNER_END + 1, DIGEST_END) == other:sub(OWNER_END + 1, DIGEST_END)
  if head:sub(1, OWNER_END) == other:sub(1, OWNER_END) then return same_text end
  if keeps then return false end
  if same_text then return true end
  return both(HAS_PAYLOAD, other)
    and head:sub(FLAGS + 1, PAYLOAD_END) == other:sub(FLAGS + 1, PAYLOAD_END)
end

local function is_near(other)
  if keeps or head:sub(1, OWNER_END) == other:sub(1, OWNER_END) then return false end
  if both(HAS_FINGERPRINT, other) and is_within(other) then return true end
  return both(HAS_SKETCH, other) and shares_band(other) and is_similar(other)
end

local state = redis.call('HMGET', KEYS[1], 'next', 'oldest', 'low', 'last', read_to - 1)
local next, oldest, last = tonumber(state[1] or 0), tonumber(state[2] or 0), state[4] or ''
-- Entries that were not compared are forgotten, or the server has lost some that were: it may have
-- given their numbers to others.
if known < oldest or (state[5] or '') ~= read_last then return { -1, next, last, 0 } end
local others, refused = 0, { -1, next, last, 0 }
for start = known, next - 1, AT_ONCE do
  local numbers = {}
  for number = start, math.min(start + AT_ONCE, next) - 1 do numbers[#numbers + 1] = number end
  for place, other in ipairs(redis.call('HMGET', KEYS[1], unpack(numbers))) do
    local refuses = is_same(other)
    if not refuses and is_near(other) then
      refuses = not (compares_names and is_other(other))
      if not refuses then others = others + 1 end
    end
    if refuses then
      refused[#refused + 1] = numbers[place]
      refused[#refused + 1] = other
    end
  end
end
if #refused > 4 then return refused end
if #KEYS == LOG_KEYS then
  local dated = head .. struct.pack('>I4', redis.call('TIME')[1])
  redis.call('HSET', KEYS[2], next, body)
  redis.call('HSET', KEYS[1], next, dated, 'last', dated, 'next', next + 1)
  return { next, next, last, others }
end

-- Lists first: where they are of another program the script ends there.
local packed_number, fields, records = struct.pack('<I5', next), {}, {}
for at = FIRST_LIST, #ARGV, 2 do
  fields[#fields + 1], records[#records + 1] = ARGV[at], ARGV[at + 1] .. packed_number
end
add(KEYS[3], fields, records, tonumber(ARGV[15]), tonumber(ARGV[16]), false)
if ARGV[14] == '' then
  redis.call('SET', ARGV[12] .. next, body)
else
  redis.call('MSET', ARGV[12] .. next, body, ARGV[13] .. next, ARGV[14])
end
local low = tonumber(state[3] or 0)
if low == next then low = next + 1 end
oldest = forget_heads(KEYS[1], oldest, low, tonumber(ARGV[10]))
local marked = head .. ARGV[11]
redis.call(
  'HSET', KEYS[1], next, marked, 'last', marked, 'next', next + 1, 'low', low, 'oldest', oldest
)
return { next, next, last, others }
