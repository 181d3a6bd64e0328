-- Queue the links that nobody has met: check, add and queue are one step.
--
-- ARGV, after that of each call: of each link host, urgency and depth (18 bytes), key (16 bytes or none),
-- the rest. Answer: what the call is, and a character for each link, 1 where it was queued.
--
-- A worker that was taken for dead may still push: what it found is there, whoever fetches it.

local is, mine, answered = begin('push')
if is == 'again' then
  return {is, answered}
end

local queued, stands = {}, {}
local number = tonumber(redis.call('HGET', base, 'number') or '0')
for at = 6, #ARGV, 3 do
  local head, key = ARGV[at], ARGV[at + 1]
  if key == '' or see(key) then
    number = number + 1
    redis.call('ZADD', QUEUE, 0, head .. struct.pack('>I6', number) .. ARGV[at + 2])
    local host, priority = string.sub(head, 1, 8), priority_in(head)
    -- Most links of a page lead to one host, which stands in line after the first of them.
    if not stands[host] or priority > stands[host] then
      stand(host, priority)
      stands[host] = priority
    end
    queued[#queued + 1] = '1'
  else
    queued[#queued + 1] = '0'
  end
end

local answer = table.concat(queued)
if string.find(answer, '1', 1, true) then
  redis.call('HSET', base, 'number', whole(number))
  save_seen()
  changed()
end
if is == 'new' then
  remember(mine, 'push', answer)
end
return {is, answer}
