-- Queue the links that no worker has met: check, add and queue are one step.
--
-- A link that is nearer to a seed than all before, and is marked by AGAIN, is queued again: its page takes the new depth, and
-- where it was fetched, its links are followed from there. Older requests for it are handed out no
-- more.
--
-- ARGV, after that of each call: of each link host, urgency and depth (18 bytes), key (16 bytes or none),
-- the rest. Answer: what the call is, and a character for each link, 1 where it was queued.
--
-- A worker that was taken for dead may still push: what it found is there, whoever fetches it.

local is, mine, answered = begin('push')
if is == 'again' then
  return {is, answered}
end

local queued, stands, is_changed = {}, {}, false
local number = tonumber(redis.call('HGET', base, 'number') or '0')
for at = 6, #ARGV, 3 do
  local head, key = ARGV[at], ARGV[at + 1]
  local rest_of_it = ARGV[at + 2]
  local tries = string.byte(rest_of_it)
  local met = key == '' and NEW or see(key, depth_in(head), tries >= AGAIN)
  if met then
    is_changed = true
    number = number + 1
    if met == NEW and tries >= AGAIN then
      rest_of_it = string.char(tries - AGAIN) .. string.sub(rest_of_it, 2)
    end
    redis.call('ZADD', QUEUE, 0, head .. struct.pack('>I6', number) .. rest_of_it)
    local host, priority = string.sub(head, 1, 8), priority_in(head)
    -- Most links of a page lead to one host, which stands in line after the first of them.
    if not stands[host] or priority > stands[host] then
      stand(host, priority)
      stands[host] = priority
    end
  end
  queued[#queued + 1] = met == NEW and '1' or '0'
end

local answer = table.concat(queued)
if is_changed then
  redis.call('HSET', base, 'number', whole(number))
  save_seen()
  changed()
end
if is == 'new' then
  remember(mine, 'push', answer)
end
return {is, answer}
