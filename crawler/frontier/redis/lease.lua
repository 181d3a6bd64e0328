-- Hand out requests of hosts that the worker owns and of free ones, which it owns from then on.
--
-- ARGV, after that of each call: how many requests at most, how many more hosts, how many requests
-- of each of these, then host (8 bytes) and room of each host that may have more.
-- Answer: what the call is, the requests, in order, and of each host that the worker did not own
-- before and that has not answered well since it was left alone, its name and its pause.

local name, most, more_hosts, room = ARGV[1], tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local is, mine, answered = begin('call')
if is == 'lost' then
  return {is, {}, {}}
end

local function pauses_of(requests)
  local pauses, known = {}, {}
  if redis.call('EXISTS', PAUSES) == 0 then
    return pauses
  end
  for _, request in ipairs(requests) do
    local host = string.sub(request, 1, 8)
    local pause = not known[host] and redis.call('HGET', PAUSES, host)
    known[host] = true
    if pause then
      pauses[#pauses + 1], pauses[#pauses + 2] = host, pause
    end
  end
  return pauses
end

local function lease_of(id)
  local rest_of_it = redis.call('HGET', mine.leases, id)
  return rest_of_it and id .. rest_of_it
end

if is == 'again' then
  local same = {}
  for at = 1, #answered, ID do
    same[#same + 1] = lease_of(string.sub(answered, at, at + ID - 1)) or nil
  end
  return {is, same, pauses_of(same)}
end

wake()

-- Hosts that the worker owns and that have requests and room, as they stand in line.
local owned = {}

local function goes_before(one, other)
  if one.priority ~= other.priority then
    return one.priority > other.priority
  end
  return one.turn < other.turn
end

local function line_up(entry)
  local low, high = 1, #owned + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if goes_before(entry, owned[middle]) then
      high = middle
    else
      low = middle + 1
    end
  end
  table.insert(owned, low, entry)
end

for at = 9, #ARGV, 2 do
  local place = place_of(ARGV[at])
  if place.state == OWNED and place.owner == name and place.priority then
    line_up({host = ARGV[at], room = tonumber(ARGV[at + 1]), priority = place.priority,
             turn = place.turn, old = place})
  end
end

local function first_free()
  local first = more_hosts > 0 and redis.call('ZRANGE', LINE, 0, 0, 'WITHSCORES')
  if first and first[1] then
    return {host = string.sub(first[1], 9), priority = -tonumber(first[2]),
            turn = struct.unpack('>I8', first[1])}
  end
end

-- Own a host from now on; its place in the line of the free ones is given up.
local function take(entry)
  more_hosts = more_hosts - 1
  entry.room, entry.is_new = room, true
  redis.call('SADD', mine.hosts, entry.host)
  redis.call('ZREM', LINE, in_line(entry.host, entry.turn))
  entry.old = {state = OWNED}
  return entry
end

local function next_host()
  local free_one = first_free()
  if free_one and (not owned[1] or goes_before(free_one, owned[1])) then
    return take(free_one)
  end
  return table.remove(owned, 1)
end

local leased, ids = {}, {}

local has_dropped = false

-- Remember the URL of a request that is dropped: it may be another spelling than the one that stands
-- for it. Where that has failed meanwhile, it waits again, without the key.
local function keep_spelling(record)
  local rest_of_it, key = string.sub(record, ID + 1), string.sub(record, ID + 3, ID + 18)
  if wants(key, (url_in(rest_of_it))) then
    redis.call('ZADD', QUEUE, 0, string.sub(record, 1, ID) .. without_key(rest_of_it))
  end
end

-- The first two requests of a host, after those were dropped that others stand for.
local function first_two(host)
  local requests = first_of(host, 2)
  while requests[1] and is_replaced(requests[1]) do
    redis.call('ZREM', QUEUE, requests[1])
    keep_spelling(requests[1])
    has_dropped = true
    requests = first_of(host, 2)
  end
  return requests
end

-- Give up a host of which every request was dropped: the answer does not name it, so that its worker
-- would own it without asking for what is queued for it later. It counts among the hosts of this call,
-- so that one call does not pass over a whole line of them.
local function untake(entry)
  redis.call('SREM', mine.hosts, entry.host)
  put(entry.host, entry.old, {state = LINED})
end

-- Hand out a host's first request; its turn is over with that.
local function hand_out(entry)
  local requests = first_two(entry.host)
  if entry.is_new and not requests[1] then
    return untake(entry)
  end
  entry.is_new = false
  if requests[1] then
    redis.call('ZREM', QUEUE, requests[1])
    leased[#leased + 1] = requests[1]
    ids[#ids + 1] = string.sub(requests[1], 1, ID)
    entry.room = entry.room - 1
  end
  entry.priority = requests[2] and priority_in(requests[2])
  entry.turn = requests[2] and next_turn()
  put(entry.host, entry.old, {state = OWNED, priority = entry.priority, turn = entry.turn,
                              owner = name})
  if entry.room > 0 and entry.priority then
    line_up(entry)
  end
end

-- Find records whose hosts have no place, which another program wrote: nobody would ever lease them,
-- and the fleet would wait for them without an end. A few by chance are enough, where nothing is left
-- but them.
local function find_strays()
  for _, record in ipairs(redis.call('ZRANDMEMBER', QUEUE, 3)) do
    local host = string.sub(record, 1, 8)
    if redis.call('HEXISTS', HOSTS, host) == 0 then
      has_dropped = true
      if is_whole(record) then
        stand(host, priority_in(record))
      else
        put_aside(record)
      end
    end
  end
end

while #leased < most do
  local entry = next_host()
  if not entry then
    break
  end
  hand_out(entry)
end

if #leased == 0 then
  find_strays()
end

local held = {}
for at, id in ipairs(ids) do
  held[2 * at - 1], held[2 * at] = id, string.sub(leased[at], ID + 1)
end
if #ids > 0 then
  redis.call('HSET', mine.leases, unpack(held))
end
remember(mine, 'call', table.concat(ids))
if #ids > 0 or has_dropped then
  changed()
end
return {is, leased, pauses_of(leased)}
