-- Move requests that a worker holds, and free hosts.
--
-- ARGV, after that of each call: the move and its arguments:
--   park id...        leased ones are parked
--   unpark id...      parked ones are leased, where the worker owns their host; the others wait
--   give_back id...   leased and parked ones wait, in their place
--   release host ms...  nobody owns the hosts any more; each rests for so long
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

local function take_out(where, id)
  local rest_of_it = redis.call('HGET', where, id)
  if rest_of_it then
    redis.call('HDEL', where, id)
  end
  return rest_of_it
end

local moves = {}

function moves.park(id)
  local rest_of_it = take_out(mine.leases, id)
  return rest_of_it and redis.call('HSET', mine.parked, id, rest_of_it)
end

function moves.unpark(id)
  local rest_of_it = take_out(mine.parked, id)
  if rest_of_it and owns(string.sub(id, 1, 8)) then
    return redis.call('HSET', mine.leases, id, rest_of_it)
  elseif rest_of_it then
    put_back(id, rest_of_it)
  end
end

function moves.give_back(id)
  local rest_of_it = take_out(mine.leases, id) or take_out(mine.parked, id)
  if rest_of_it then
    put_back(id, rest_of_it)
  end
end

local answer = {}
if move == 'release' then
  for at = 7, #ARGV, 2 do
    if redis.call('SREM', mine.hosts, ARGV[at]) == 1 then
      rest(ARGV[at], tonumber(ARGV[at + 1]))
    end
  end
else
  for at = 7, #ARGV do
    answer[#answer + 1] = moves[move](ARGV[at]) and '1' or '0'
  end
end
if #ARGV > 6 then
  changed()
end
remember(mine, 'call', table.concat(answer))
return {is, table.concat(answer)}
