-- The seen set of a shard: keys of 16 bytes in buckets, each a hash small enough for one listpack,
-- with the depth of each key: how many links lead to its page from a seed, at least.
--
-- Linear hashing (Litwin 1980): with n keys there are about n / LOAD buckets. Each time that there
-- are to be more, the next bucket in turn gives half of its keys to a new one, so that a set of any
-- size takes some 20 bytes a key and nothing is ever rebuilt.
--
-- Where the server has Bloom filters, one stands in front: for what it has never met no bucket is
-- searched. Whether there is one is decided at the first key; it must know every other.

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
  local entries, keys, moved = redis.call('HGETALL', from), {}, {}
  for at = 1, #entries, 2 do
    if hash_of(entries[at]) % (power * 2) == buckets then
      keys[#keys + 1] = entries[at]
      moved[#moved + 1], moved[#moved + 2] = entries[at], entries[at + 1]
    end
  end
  if #keys > 0 then
    redis.call('HDEL', from, unpack(keys))
    redis.call('HSET', to, unpack(moved))
  end
  buckets = buckets + 1
  power = doubled(buckets)
end

local FILTER = base .. ':filter'
local filter = redis.call('HGET', base, 'filter')

local function set_filter(state)
  filter = state
  redis.call('HSET', base, 'filter', state)
end

local function begin_filter()
  local known = redis.pcall('COMMAND', 'INFO', 'BF.RESERVE')
  if seen_keys == 0 and known[1] then
    redis.call('BF.RESERVE', FILTER, '0.001', '100000')
    set_filter('on')
  else
    set_filter('off')
  end
end

-- Whether the filter has never met a key, which it knows from then on.
local function is_never_met(key)
  if not filter then
    begin_filter()
  end
  if filter == 'off' then
    return false
  end
  local added = redis.pcall('BF.ADD', FILTER, key)
  if type(added) == 'table' then -- an error: this server has none any more
    set_filter('off')
  end
  return added == 1
end

-- Add a key; say whether it is a new one, or met nearer to a seed than ever before, where that
-- matters.
local NEW, NEARER = 'new', 'nearer'

local function see(key, depth, may_lower)
  local bucket = bucket_of(key)
  local known = not is_never_met(key) and redis.call('HGET', bucket, key)
  if known and (tonumber(known) <= depth or not may_lower) then
    return nil
  end
  redis.call('HSET', bucket, key, whole(depth))
  if known then
    return NEARER
  end
  seen_keys = seen_keys + 1
  while buckets < buckets_for(seen_keys) do
    split()
  end
  return NEW
end

-- Whether a shorter way to a page was found, so that another request stands for this one.
local function is_replaced(record)
  if string.byte(record, ID + 2) == 0 then
    return false
  end
  local key = string.sub(record, ID + 3, ID + 18)
  local depth = redis.call('HGET', bucket_of(key), key)
  return depth and tonumber(depth) < depth_in(record)
end

local function save_seen()
  redis.call('HSET', base, 'seen', whole(seen_keys))
end
