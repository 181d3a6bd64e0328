-- Gives a digest to whoever asks for it first.
--
-- KEYS: a hash
-- ARGV: field, owner (16 bytes), what the owner says of it
-- Reply: nothing where it is the owner's, else the other owner with what that one said
local held = redis.call('HGET', KEYS[1], ARGV[1])
if not held then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ARGV[3])
  return false
end
if held:sub(1, #ARGV[2]) == ARGV[2] then return false end
return held
