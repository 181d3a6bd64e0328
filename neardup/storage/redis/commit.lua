-- Adds a text to the log of commits, unless one that its sender has not compared it with is near.
-- Scripts run one at a time, so of two texts that are near each other and come at one moment the
-- second is refused here: its sender looks again, finds the first and compares.
--
-- KEYS: state, heads, bodies (one slot)
-- ARGV: known     the sender has compared its text with every entry below this number
--       radius    bits within which a fingerprint is near
--       keeps     "1": only the same text of the same owner counts
--       head      owner (16 bytes), text digest (16), flags (1), payload digest (16),
--                 fingerprint (8); head_format.py
--       body      all that is to be written elsewhere
-- Reply: the number of the new entry, or -1: look again
local OWNER_END, DIGEST_END, FLAGS, PAYLOAD_END, HEAD_END = 16, 32, 33, 49, 57
local HAS_PAYLOAD, HAS_FINGERPRINT = 1, 2

local known, radius, keeps, head = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1', ARGV[4]
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
  for place = PAYLOAD_END + 1, HEAD_END do
    distance = distance + set_bits(bit.bxor(head:byte(place), other:byte(place)))
    if distance > radius then return false end
  end
  return true
end

local function both(flag, other)
  return bit.band(flags, bit.band(other:byte(FLAGS), flag)) ~= 0
end

local function is_near(other)
  local same_text = head:sub(OWNER_END + 1, DIGEST_END) == other:sub(OWNER_END + 1, DIGEST_END)
  if head:sub(1, OWNER_END) == other:sub(1, OWNER_END) then return same_text end
  if keeps then return false end
  if same_text then return true end
  if both(HAS_PAYLOAD, other)
    and head:sub(FLAGS + 1, PAYLOAD_END) == other:sub(FLAGS + 1, PAYLOAD_END) then return true end
  return both(HAS_FINGERPRINT, other) and is_within(other)
end

local state = redis.call('HMGET', KEYS[1], 'next', 'oldest')
local next, oldest = tonumber(state[1] or 0), tonumber(state[2] or 0)
-- Entries that were not compared are forgotten, or the server has lost some that were.
if known < oldest or known > next then return -1 end
for number = known, next - 1 do
  if is_near(redis.call('HGET', KEYS[2], number)) then return -1 end
end
redis.call('HSET', KEYS[2], next, head .. struct.pack('>I4', redis.call('TIME')[1]))
redis.call('HSET', KEYS[3], next, ARGV[5])
redis.call('HSET', KEYS[1], 'next', next + 1)
return next
