-- What every script of a shard begins with: its keys, its hosts and their places in line.
--
-- KEYS[1] is the shard's own name, and every other key begins with it; as the name is a hash tag,
-- they are in one slot of a cluster. Formats: docs/formats.md, "In Redis".

local base = KEYS[1]
local QUEUE, LINE, HOSTS = base .. ':queue', base .. ':line', base .. ':hosts'
local RESTING, FAILED, WORKERS = base .. ':resting', base .. ':failed', base .. ':workers'
local PAUSES, UNREADABLE = base .. ':pauses', base .. ':unreadable'
local DELAYS = base .. ':delays'

-- Numbers of the shard and places of its hosts are read once, changed here, and written once by `save`.
local NUMBERS = {'number', 'turn', 'seen', 'nearer', 'done', 'changes'}
local numbers, is_new_number = {}, {}
for at, number in ipairs(redis.call('HMGET', base, unpack(NUMBERS))) do
  numbers[NUMBERS[at]] = tonumber(number or '0')
end

local ID, HEAD = 24, 16 -- bytes of host, urgency, depth and number; of the first two
local AGAIN = 128       -- added to the tries of a request whose page may have been fetched
local MIDDLE = 2 ^ 52   -- urgency is this less the priority, so that it sorts as a string
local LINED, OWNED, RESTS = 'L', 'O', 'R'

local function keys_of(worker)
  local mine = base .. ':of:' .. worker
  return {record = mine, leases = mine .. ':leases', parked = mine .. ':parked',
          hosts = mine .. ':hosts'}
end

local function count(field, more)
  numbers[field] = numbers[field] + more
  is_new_number[field] = true
  return numbers[field]
end

-- Lets two collects of counts see that something happened between them.
local function changed()
  count('changes', 1)
end

local function whole(number)
  return string.format('%.0f', number)
end

local function next_turn()
  return count('turn', 1)
end

-- Call a command with any number of arguments, some of them at a time.
local function call_each(command, key, arguments)
  for at = 1, #arguments, 1000 do
    redis.call(command, key, unpack(arguments, at, math.min(at + 999, #arguments)))
  end
end

-- The values of fields of a hash, by field; nothing of those that it lacks.
local function fields_of(key, fields)
  local values = {}
  for at = 1, #fields, 1000 do
    local some = {unpack(fields, at, math.min(at + 999, #fields))}
    for place, value in ipairs(redis.call('HMGET', key, unpack(some))) do
      values[some[place]] = value or nil
    end
  end
  return values
end

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function priority_in(member)
  return MIDDLE - struct.unpack('>I8', string.sub(member, 9, HEAD))
end

local function depth_in(member)
  return struct.unpack('>I2', string.sub(member, HEAD + 1, HEAD + 2))
end

-- Whether a record has all its parts: an id of a host and an urgency as we write them, and tries, key,
-- and a URL of the length that it says.
local function is_whole(record)
  local key_bytes = string.byte(record, ID + 2)
  if key_bytes ~= 0 and key_bytes ~= 16 then
    return false
  end
  local urgency = struct.unpack('>I8', string.sub(record, 9, HEAD))
  if string.byte(record) > 127 or urgency < 1 or urgency >= 2 * MIDDLE then
    return false
  end
  local url = ID + 3 + key_bytes
  return #record >= url + 3
    and #record >= url + 3 + struct.unpack('>I4', string.sub(record, url, url + 3))
end

local function put_aside(record)
  redis.call('ZREM', QUEUE, record)
  redis.call('HSET', UNREADABLE, record, '')
end

-- The first of a host's requests that wait, as they are to be handed out. What another program wrote
-- among them is put aside, since every worker would stop at it.
local function first_of(host, most)
  local found = redis.call('ZRANGEBYLEX', QUEUE, '[' .. host, '(' .. host .. '\255', 'LIMIT', 0, most)
  for _, record in ipairs(found) do
    if not is_whole(record) then
      put_aside(record)
      return first_of(host, most)
    end
  end
  return found
end

-- Places of hosts as they are to be, the hosts whose places changed, and what stands in line of them.
local places, moved_hosts, is_moved, lined = {}, {}, {}, {}

local function in_line(host, turn)
  return struct.pack('>I8', turn) .. host
end

local function note_place(host, place)
  places[host] = place
  lined[host] = place.state == LINED and place.priority and in_line(host, place.turn) or nil
  return place
end

-- A host's place: its state, and priority and turn where it has requests that wait.
local function parsed_place(found)
  if not found then
    return {state = LINED}
  end
  local state, priority, turn, owner = string.match(found, '^(%u) (%S+) (%d+) ?(.*)$')
  return {state = state, priority = tonumber(priority), turn = tonumber(turn), owner = owner}
end

local function read_places(hosts)
  local unknown = {}
  for _, host in ipairs(hosts) do
    if not places[host] then
      unknown[#unknown + 1] = host
    end
  end
  local found = fields_of(HOSTS, unknown)
  for _, host in ipairs(unknown) do
    note_place(host, parsed_place(found[host]))
  end
end

local function place_of(host)
  return places[host] or note_place(host, parsed_place(redis.call('HGET', HOSTS, host)))
end

local function put(host, place)
  if not is_moved[host] then
    is_moved[host] = true
    moved_hosts[#moved_hosts + 1] = host
  end
  place_of(host)
  places[host] = place
end

local function save_places()
  local gone, out_of_line, written, into_line = {}, {}, {}, {}
  for _, host in ipairs(moved_hosts) do
    local place, old = places[host], lined[host]
    note_place(host, place)
    if old and old ~= lined[host] then
      out_of_line[#out_of_line + 1] = old
    end
    if place.state == LINED and not place.priority then
      gone[#gone + 1] = host
    else
      if lined[host] then
        into_line[#into_line + 1], into_line[#into_line + 2] = -place.priority, lined[host]
      end
      local priority = place.priority and whole(place.priority) or '-'
      written[#written + 1], written[#written + 2] = host, table.concat(
        {place.state, priority, whole(place.turn or 0), place.owner or ''}, ' ')
    end
  end
  moved_hosts, is_moved = {}, {}
  call_each('ZREM', LINE, out_of_line)
  call_each('HDEL', HOSTS, gone)
  call_each('HSET', HOSTS, written)
  call_each('ZADD', LINE, into_line)
end

-- Write what changed; every script that changes something ends with it.
local function save()
  save_places()
  local written = {}
  for name in pairs(is_new_number) do
    written[#written + 1], written[#written + 2] = name, whole(numbers[name])
  end
  is_new_number = {}
  call_each('HSET', base, written)
end

-- Let a host stand for a request that came; who stands there for a more urgent one stays.
local function stand(host, priority)
  local place = place_of(host)
  if place.state == RESTS or (place.priority and priority <= place.priority) then
    return
  end
  put(host, {state = place.state, priority = priority, turn = next_turn(), owner = place.owner})
end

-- Let a host stand at the end of the line, where it has requests; nobody owns it then.
local function free(host)
  local first = first_of(host, 1)[1]
  put(host, {state = LINED, priority = first and priority_in(first), turn = first and next_turn()})
end

-- How long a host is still to be left alone because it refused, whoever owns it.
local function pause_left(host)
  local pause = redis.call('HGET', PAUSES, host)
  local until_ms = pause and tonumber(string.match(pause, '^%d+'))
  return until_ms and until_ms - now_ms() or 0
end

local function rest(host, ms)
  ms = math.max(ms, pause_left(host))
  if ms <= 0 then
    return free(host)
  end
  redis.call('ZADD', RESTING, whole(now_ms() + ms), host)
  put(host, {state = RESTS})
end

local function wake()
  local first = redis.call('ZRANGE', RESTING, 0, 0, 'WITHSCORES')
  if not first[1] or tonumber(first[2]) > now_ms() then
    return
  end
  for _, host in ipairs(redis.call('ZRANGEBYSCORE', RESTING, '-inf', whole(now_ms()))) do
    redis.call('ZREM', RESTING, host)
    free(host)
  end
  save_places()
end

-- Put a request back where it was in its host's queue.
local function put_back(id, rest_of_it)
  redis.call('ZADD', QUEUE, 0, id .. rest_of_it)
  stand(string.sub(id, 1, 8), priority_in(id))
end

-- Take requests out of those that a worker holds: the rests of their records, by id.
local function take_out(where, ids)
  local rests, taken = fields_of(where, ids), {}
  for id in pairs(rests) do
    taken[#taken + 1] = id
  end
  call_each('HDEL', where, taken)
  return rests
end

-- Whether a call is to be carried out, its worker's keys, and what was answered the last time.
--
-- ARGV begins with worker, incarnation, number of the call, and the numbers of the last push and of
-- the last other call that the worker had an answer to. Pushes are numbered apart: they wait where
-- the server is full, and the ends of leases, which free memory, do not. The first value is
--   new    yes
--   again  no: it came before, and its answer was lost, or it was on its way for long
--   lost   the worker was taken for dead, or the server has lost a call that it had answered, as
--          one that is killed may: what the worker holds is to be returned
local function begin(kind)
  local mine, number = keys_of(ARGV[1]), tonumber(ARGV[3])
  local known = redis.call('HMGET', mine.record, 'incarnation', 'push', 'call', kind .. ' answer')
  local pushes, calls = tonumber(known[2] or '0'), tonumber(known[3] or '0')
  if known[1] ~= ARGV[2] or pushes < tonumber(ARGV[4]) or calls < tonumber(ARGV[5]) then
    return 'lost', mine
  end
  local last = kind == 'push' and pushes or calls
  if number > last then
    return 'new', mine
  end
  return 'again', mine, number == last and known[4] or ''
end

-- Note that a call was carried out, with its answer.
local function remember(mine, kind, answer)
  redis.call('HSET', mine.record, kind, ARGV[3], kind .. ' answer', answer)
end
