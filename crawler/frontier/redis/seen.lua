-- The seen set of a shard: keys of 16 bytes in buckets, each a hash small enough to be a listpack.
--
-- Linear hashing (Litwin 1980): with n keys there are about n / LOAD buckets. Each time that there
-- are to be more, the next bucket in turn gives half of its keys to a new one, so that a set of any
-- size takes some 20 bytes a key and nothing is ever rebuilt.

local LOAD = 128 -- keys a bucket; one that is still to be split has twice as many

local seen_keys = tonumber(redis.call('HGET', base, 'seen') or '0')

local function buckets_for(keys)
  return math.max(1, math.ceil(keys / LOAD))
end

local function doubled(buckets)
  local power = 1
  while power * 2 <= buckets do
    power = power * 2
  end
  return power
end

local function hash_of(key)
  return struct.unpack('>I4', string.sub(key, 1, 4))
end

local function bucket_name(number)
  return base .. ':seen:' .. whole(number)
end

local buckets = buckets_for(seen_keys)
local power = doubled(buckets)

local function bucket_of(key)
  local hash = hash_of(key)
  local number = hash % (power * 2)
  return bucket_name(number < buckets and number or hash % power)
end

-- The bucket that is next in turn gives those keys away that belong into the new one.
local function split()
  local from, to = bucket_name(buckets - power), bucket_name(buckets)
  local moved, added = {}, {}
  for _, key in ipairs(redis.call('HKEYS', from)) do
    if hash_of(key) % (power * 2) == buckets then
      moved[#moved + 1] = key
      added[#added + 1] = key
      added[#added + 1] = ''
    end
  end
  if #moved > 0 then
    redis.call('HSET', to, unpack(added))
    redis.call('HDEL', from, unpack(moved))
  end
  buckets = buckets + 1
  power = doubled(buckets)
end

-- Add a key; say whether it is a new one.
local function see(key)
  if redis.call('HSETNX', bucket_of(key), key, '') == 0 then
    return false
  end
  seen_keys = seen_keys + 1
  while buckets < buckets_for(seen_keys) do
    split()
  end
  return true
end

local function save_seen()
  redis.call('HSET', base, 'seen', whole(seen_keys))
end
