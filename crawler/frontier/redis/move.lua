-- Move requests that a worker holds, and free hosts.
--
-- ARGV, after that of each call: the move and its arguments:
--   park id...        leased ones are parked
--   unpark id...      parked ones are leased, where the worker owns their host; the others wait
--   give_back id...   leased and parked ones wait, in their place
--   postpone (id head rest)...  leased ones wait, with another head (18 bytes) and content
--   release (host ms)...   nobody owns the hosts any more; each rests for so long
--   pause (host ms pause)...  hosts that the worker owns are left alone for so long, whoever owns
--                          them; what stands there of an earlier pause is forgotten without ms
--   delay (host ms)...     hosts rest for so long at least where their owner dies
-- Answer: what the call is, and for park and unpark a character for each id, 1 where it is so now.

local worker, move = ARGV[1], ARGV[6]
local is, mine, answered = begin('call')
if is ~= 'new' then
  return {is, answered or ''}
end

local function owns(host)
  local place = place_of(host)
  return place.state == OWNED and place.owner == worker
end

local function leases_of(rests)
  local held = {}
  for id, rest_of_it in pairs(rests) do
    held[#held + 1], held[#held + 2] = id, rest_of_it
  end
  return held
end

-- Each returns the ids that are now as they are to be.
local moves = {}

function moves.park(ids)
  local rests = take_out(mine.leases, ids)
  call_each('HSET', mine.parked, leases_of(rests))
  return rests
end

function moves.unpark(ids)
  local rests = take_out(mine.parked, ids)
  for _, id in ipairs(ids) do
    if rests[id] and not owns(string.sub(id, 1, 8)) then
      put_back(id, rests[id])
      rests[id] = nil
    end
  end
  call_each('HSET', mine.leases, leases_of(rests))
  return rests
end

function moves.give_back(ids)
  local leased, parked = take_out(mine.leases, ids), take_out(mine.parked, ids)
  for _, id in ipairs(ids) do
    local rest_of_it = leased[id] or parked[id]
    if rest_of_it then
      put_back(id, rest_of_it)
    end
  end
  return {}
end

local function release(host, ms)
  if redis.call('SREM', mine.hosts, host) == 1 then
    rest(host, tonumber(ms))
  end
end

local function postpone(id, head, rest_of_it)
  if take_out(mine.leases, {id})[id] then
    put_back(head .. string.sub(id, #head + 1), rest_of_it)
  end
end

local function pause(host, ms, record)
  if not owns(host) then
    return
  elseif ms == '' then
    redis.call('HDEL', PAUSES, host)
  else
    redis.call('HSET', PAUSES, host, whole(now_ms() + tonumber(ms)) .. ' ' .. record)
  end
end

local function delay(host, ms)
  redis.call('HSET', DELAYS, host, ms)
end

local answer = {}
local in_groups = {release = {release, 2}, postpone = {postpone, 3}, pause = {pause, 3},
                   delay = {delay, 2}}
if in_groups[move] then
  local act, size = unpack(in_groups[move])
  for at = 7, #ARGV, size do
    act(unpack(ARGV, at, at + size - 1))
  end
elseif #ARGV > 6 then
  local ids = {}
  for at = 7, #ARGV do
    ids[#ids + 1] = ARGV[at]
  end
  local moved = moves[move](ids)
  for at, id in ipairs(ids) do
    answer[at] = moved[id] and '1' or '0'
  end
end
if #ARGV > 6 then
  changed()
end
save()
remember(mine, 'call', table.concat(answer))
return {is, table.concat(answer)}
