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

local NEARER_KEYS = base .. ':nearer'

local function buckets_for(keys)
  return math.max(1, math.ceil(keys / LOAD))
end

-- The largest power of two that is not above a number of buckets.
local function power_of(buckets)
  local _, exponent = math.frexp(buckets)
  return 2 ^ (exponent - 1)
end

local function hash_of(key)
  return struct.unpack('>I4', string.sub(key, 1, 4))
end

local function bucket_name(number)
  return base .. ':seen:' .. whole(number)
end

local buckets = buckets_for(numbers.seen)
local power = power_of(buckets)

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
  call_each('HDEL', from, keys)
  call_each('HSET', to, moved)
  buckets = buckets + 1
  power = power_of(buckets)
end

local FILTER = base .. ':filter'

local function begin_filter()
  local known, filter = redis.pcall('COMMAND', 'INFO', 'BF.RESERVE'), 'off'
  if numbers.seen == 0 and known[1] then
    redis.call('BF.RESERVE', FILTER, '0.001', '100000')
    filter = 'on'
  end
  redis.call('HSET', base, 'filter', filter)
  return filter
end

-- The keys that a filter may have met: it has never met the others, and knows them from then on.
local function maybe_met(keys)
  local filter = redis.call('HGET', base, 'filter') or begin_filter()
  if filter == 'off' then
    return keys
  end
  local met = {}
  for at = 1, #keys, 1000 do
    local some = {unpack(keys, at, math.min(at + 999, #keys))}
    local added = redis.pcall('BF.MADD', FILTER, unpack(some))
    if added.err then -- this server has none any more
      redis.call('HSET', base, 'filter', 'off')
      return keys
    end
    for place, key in ipairs(some) do
      if added[place] ~= 1 then
        met[#met + 1] = key
      end
    end
  end
  return met
end

local function by_bucket(keys)
  local groups, names = {}, {}
  for _, key in ipairs(keys) do
    local name = bucket_of(key)
    if not groups[name] then
      groups[name] = {}
      names[#names + 1] = name
    end
    table.insert(groups[name], key)
  end
  return groups, names
end

-- The fewest links from a seed of the keys that were read, and the keys of which these are to be written.
local depths, changed_keys, lowered = {}, {}, {}

-- Read what is known of keys, each of which is named once.
local function read_seen(keys)
  local groups, names = by_bucket(keys)
  for _, name in ipairs(names) do
    for key, depth in pairs(fields_of(name, groups[name])) do
      depths[key] = tonumber(depth)
    end
  end
end

-- Add a key that was read; say whether it is a new one, or met nearer to a seed than ever before, where
-- that matters.
local NEW, NEARER = 'new', 'nearer'

local function see(key, depth, may_lower)
  local known = depths[key]
  if known and (known <= depth or not may_lower) then
    return nil
  end
  depths[key] = depth
  changed_keys[#changed_keys + 1] = key
  if known then
    lowered[#lowered + 1] = key
    return NEARER
  end
  count('seen', 1)
  return NEW
end

local function save_seen()
  local groups, names = by_bucket(changed_keys)
  for _, name in ipairs(names) do
    local written = {}
    for _, key in ipairs(groups[name]) do
      written[#written + 1], written[#written + 2] = key, whole(depths[key])
    end
    call_each('HSET', name, written)
  end
  while buckets < buckets_for(numbers.seen) do
    split()
  end
  if #lowered > 0 then
    call_each('SADD', NEARER_KEYS, lowered)
    count('nearer', #lowered)
  end
end

local function key_in(record)
  return string.byte(record, ID + 2) ~= 0 and string.sub(record, ID + 3, ID + 18) or nil
end

-- Read what tells whether records are replaced. A key has another record only where it was met nearer
-- to a seed later, and most shards have no such key.
local function read_replaced(records)
  local keys, found = {}, {}
  for _, record in ipairs(numbers.nearer > 0 and records or {}) do
    keys[#keys + 1] = key_in(record)
  end
  for start = 1, #keys, 1000 do
    local some = {unpack(keys, start, math.min(start + 999, #keys))}
    for at, is_nearer in ipairs(redis.call('SMISMEMBER', NEARER_KEYS, unpack(some))) do
      if is_nearer == 1 then
        found[#found + 1] = some[at]
      end
    end
  end
  read_seen(found)
end

-- Whether a shorter way to a page was found, so that another request stands for this one.
local function is_replaced(record)
  local key = key_in(record)
  local depth = key and depths[key]
  return depth and depth < depth_in(record)
end
