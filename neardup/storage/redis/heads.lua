-- Forgets heads of the log that are old, many at a time, and returns the oldest that is left. Scripts
-- that end entries of the log begin with this.
--
-- low     the oldest entry that is not written elsewhere yet
-- kept    so many heads below it stay at least
local function forget_heads(key, oldest, low, kept)
  local MANY, AT_ONCE = 100, 1000
  local till = math.min(low - kept, oldest + AT_ONCE)
  if till - oldest < math.min(MANY, math.max(kept / 2, 1)) then return oldest end
  local numbers = {}
  for number = oldest, till - 1 do numbers[#numbers + 1] = number end
  redis.call('HDEL', key, unpack(numbers))
  return till
end
