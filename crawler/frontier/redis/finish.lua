-- End leases: of what is through, and of what broke.
--
-- ARGV, after that of each call: most tries, then 'done' or 'failed' and the id of each.
-- Answer: what the call is.
--
-- What was returned to the queue because the worker was taken for dead, and still waits, is
-- through all the same.

local most_tries = tonumber(ARGV[6])
local is, mine = begin('call')
if is == 'again' then
  return {is}
end

-- The rests of the records of those ids that are held, which are held no more after it.
local held = {}
if is ~= 'lost' then
  local ids, others = {}, {}
  for at = 8, #ARGV, 2 do
    ids[#ids + 1] = ARGV[at]
  end
  held = take_out(mine.leases, ids)
  for _, id in ipairs(ids) do
    if not held[id] then
      others[#others + 1] = id
    end
  end
  for id, rest_of_it in pairs(#others > 0 and take_out(mine.parked, others) or {}) do
    held[id] = rest_of_it
  end
  remember(mine, 'call', '')
end

-- Take a request out of the queue, and its host out of the line where that was its last one.
local function unqueue(id)
  local waiting = redis.call('ZRANGEBYLEX', QUEUE, '[' .. id, '(' .. id .. '\255', 'LIMIT', 0, 1)[1]
  if not waiting then
    return false
  end
  redis.call('ZREM', QUEUE, waiting)
  local host = string.sub(id, 1, 8)
  local place, first = place_of(host), first_of(host, 1)[1]
  local priority = first and priority_in(first)
  if place.state ~= RESTS and place.priority ~= priority then
    put(host, {state = place.state, priority = priority, turn = first and next_turn(),
               owner = place.owner})
  end
  return true
end

local function fail(id, rest_of_it)
  local tries = string.byte(rest_of_it) + 1
  local tried = string.char(tries) .. string.sub(rest_of_it, 2)
  if tries % AGAIN < most_tries then
    put_back(id, tried)
  else
    redis.call('HSET', FAILED, id, tried)
  end
end

local ended, done = 0, 0
for at = 7, #ARGV, 2 do
  local outcome, id = ARGV[at], ARGV[at + 1]
  local rest_of_it = held[id]
  held[id] = nil
  if outcome == 'failed' then
    if rest_of_it then
      fail(id, rest_of_it)
      ended = ended + 1
    end
  elseif rest_of_it or unqueue(id) then
    done = done + 1
  end
end
if done > 0 then
  count('done', done)
end
if ended + done > 0 then
  changed()
end
save()
return {is}
