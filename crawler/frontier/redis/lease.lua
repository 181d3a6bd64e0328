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

local function pauses_of(hosts)
  local pauses, found = {}, fields_of(PAUSES, hosts)
  for _, host in ipairs(hosts) do
    if found[host] then
      pauses[#pauses + 1], pauses[#pauses + 2] = host, found[host]
    end
  end
  return pauses
end

if is == 'again' then
  local ids, hosts, same = {}, {}, {}
  for at = 1, #answered, ID do
    ids[#ids + 1] = string.sub(answered, at, at + ID - 1)
    hosts[#hosts + 1] = string.sub(ids[#ids], 1, 8)
  end
  local held = fields_of(mine.leases, ids)
  for _, id in ipairs(ids) do
    same[#same + 1] = held[id] and id .. held[id] or nil
  end
  return {is, same, pauses_of(hosts)}
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

local hosts = {}
for at = 9, #ARGV, 2 do
  hosts[#hosts + 1] = ARGV[at]
end
read_places(hosts)
for at, host in ipairs(hosts) do
  local place = place_of(host)
  if place.state == OWNED and place.owner == name and place.priority then
    line_up({host = host, room = tonumber(ARGV[8 + 2 * at]), priority = place.priority,
             turn = place.turn})
  end
end

-- Free hosts as they stand in line, of which some are read at a time: none comes in while this runs.
local free_ones, line_read, is_line_read = {}, 0, false

local function first_free()
  if more_hosts <= 0 then
    return nil
  end
  if not free_ones[1] and not is_line_read then
    local wanted = math.min(more_hosts, most)
    local found = redis.call('ZRANGE', LINE, line_read, line_read + wanted - 1, 'WITHSCORES')
    line_read, is_line_read = line_read + wanted, #found < 2 * wanted
    for at = 1, #found, 2 do
      local host = string.sub(found[at], 9)
      local place = {state = LINED, priority = -tonumber(found[at + 1]),
                     turn = struct.unpack('>I8', found[at])}
      note_place(host, place)
      table.insert(free_ones, {host = host, priority = place.priority, turn = place.turn})
    end
  end
  return free_ones[1]
end

local taken = {}

-- Own a host from now on; its place in the line of the free ones is given up.
local function take(entry)
  table.remove(free_ones, 1)
  more_hosts = more_hosts - 1
  entry.room, entry.is_new = room, true
  return entry
end

local function next_host()
  local free_one = first_free()
  if free_one and (not owned[1] or goes_before(free_one, owned[1])) then
    return take(free_one)
  end
  return table.remove(owned, 1)
end

local leased, ids, held, gone = {}, {}, {}, {}

local has_dropped = false

-- Remember the URL of a request that is dropped: it may be another spelling than the one that stands
-- for it. Where that has failed meanwhile, it waits again, without the key.
local function keep_spelling(record)
  local rest_of_it, key = string.sub(record, ID + 1), key_in(record)
  if wants(key, (url_in(rest_of_it))) then
    redis.call('ZADD', QUEUE, 0, string.sub(record, 1, ID) .. without_key(rest_of_it))
    return true
  end
end

-- Read further requests of a host, twice as many each time: of most hosts few are handed out.
local function read_more(entry)
  local first, last = '[' .. entry.host, '(' .. entry.host .. '\255'
  local found = redis.call('ZRANGEBYLEX', QUEUE, first, last, 'LIMIT', entry.read, entry.chunk)
  entry.is_read = #found < entry.chunk
  entry.read, entry.chunk = entry.read + #found, 2 * entry.chunk
  for _, record in ipairs(found) do
    if is_whole(record) then
      entry.requests[#entry.requests + 1] = record
    else
      put_aside(record)
      entry.read = entry.read - 1
    end
  end
  read_replaced(found)
end

-- Read a host from its beginning. What of it is gone leaves the queue for that; that of others stays,
-- since they are read on by their place in the queue.
local function begin_again(entry)
  local of_host, others = {}, {}
  for _, record in ipairs(gone) do
    table.insert(string.sub(record, 1, 8) == entry.host and of_host or others, record)
  end
  call_each('ZREM', QUEUE, of_host)
  gone = others
  entry.requests, entry.read, entry.is_read = {}, 0, false
end

-- The first request of a host, after those were dropped that others stand for.
local function first_request(entry)
  while true do
    local request = entry.requests[1]
    if request and is_replaced(request) then
      table.remove(entry.requests, 1)
      gone[#gone + 1] = request
      has_dropped = true
      if keep_spelling(request) then
        begin_again(entry) -- It waits in its place, which only the queue knows.
      end
    elseif request or entry.is_read then
      return request
    else
      read_more(entry)
    end
  end
end

-- Give up a host of which every request was dropped: the answer does not name it, so that its worker
-- would own it without asking for what is queued for it later. It counts among the hosts of this call,
-- so that one call does not pass over a whole line of them.
local function untake(entry)
  put(entry.host, {state = LINED})
end

local function begin_host(entry)
  entry.requests, entry.read, entry.is_read = {}, 0, false
  entry.chunk = math.max(2, math.min(entry.room, math.ceil((most - #leased) / (#owned + 1))) + 1)
end

-- Hand out a host's first request; its turn is over with that.
local function hand_out(entry)
  if not entry.requests then
    begin_host(entry)
  end
  local request = first_request(entry)
  if entry.is_new and not request then
    return untake(entry)
  elseif entry.is_new then
    taken[#taken + 1] = entry.host
  end
  entry.is_new = false
  if request then
    table.remove(entry.requests, 1)
    gone[#gone + 1] = request
    leased[#leased + 1] = request
    ids[#ids + 1] = string.sub(request, 1, ID)
    held[#held + 1], held[#held + 2] = ids[#ids], string.sub(request, ID + 1)
    entry.room = entry.room - 1
  end
  if not entry.requests[1] and not entry.is_read then
    read_more(entry)
  end
  local next_one = entry.requests[1]
  entry.priority = next_one and priority_in(next_one)
  entry.turn = next_one and next_turn()
  put(entry.host, {state = OWNED, priority = entry.priority, turn = entry.turn, owner = name})
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

call_each('ZREM', QUEUE, gone)
call_each('HSET', mine.leases, held)
call_each('SADD', mine.hosts, taken)
if #leased == 0 then
  find_strays()
end
remember(mine, 'call', table.concat(ids))
if #ids > 0 or has_dropped then
  changed()
end
save()
return {is, leased, pauses_of(taken)}
