-- Queue the links that no worker has met: check, add and queue are one step.
--
-- A link that is nearer to a seed than all before, and is marked by AGAIN, is queued again: its page takes the new depth, and
-- where it was fetched, its links are followed from there. Older requests for it are handed out no
-- more.
--
-- ARGV, after that of each call: of each link host, urgency and depth (18 bytes), key (16 bytes or none),
-- the rest. Behind a key may stand s, where the URL is not the canonical one, or f and spellings
-- that gave no page, in place of which the next one is queued, as the rest of the record has it.
-- Answer: what the call is, and a character for each link, 1 where it was queued.
--
-- A worker that was taken for dead may still push: what it found is there, whoever fetches it.

local is, mine, answered = begin('push')
if is == 'again' then
  return {is, answered}
end

-- Whether a link is new, the rest of the record that is to be queued for it; nil for none.
local function to_queue(head, key, rest_of_it)
  local kind, of, tries = string.sub(key, 17, 17), string.sub(key, 1, 16), string.byte(rest_of_it)
  if kind == 'f' then
    local url = replacement(of, string.sub(key, 18), (url_in(rest_of_it)))
    return url ~= nil, url and without_key(rest_of_it, url)
  end
  local met = key == '' and NEW or see(of, depth_in(head), tries >= AGAIN)
  if met == NEW and tries >= AGAIN then
    return true, string.char(tries - AGAIN) .. string.sub(rest_of_it, 2)
  elseif not met and kind == 's' and wants(of, (url_in(rest_of_it))) then
    return true, without_key(rest_of_it)
  end
  return met == NEW, met and rest_of_it
end

local keys, is_read = {}, {}
for at = 7, #ARGV, 3 do
  local key = string.sub(ARGV[at], 1, 16)
  if key ~= '' and string.sub(ARGV[at], 17, 17) ~= 'f' and not is_read[key] then
    is_read[key] = true
    keys[#keys + 1] = key
  end
end
if #keys > 0 then
  read_seen(maybe_met(keys))
end

local queued, records, hosts, stands, priorities = {}, {}, {}, {}, {}
for at = 6, #ARGV, 3 do
  local head = ARGV[at]
  local is_new, rest_of_it = to_queue(head, ARGV[at + 1], ARGV[at + 2])
  if rest_of_it then
    local number = count('number', 1)
    records[#records + 1], records[#records + 2] = 0, head .. struct.pack('>I6', number) .. rest_of_it
    local host, priority = string.sub(head, 1, 8), priority_in(head)
    -- Most links of a page lead to one host, which stands in line after the first of them.
    if not priorities[host] or priority > priorities[host] then
      priorities[host] = priority
      hosts[#hosts + 1] = host
      stands[#stands + 1] = priority
    end
  end
  queued[#queued + 1] = is_new and '1' or '0'
end

local answer = table.concat(queued)
if #records > 0 then
  call_each('ZADD', QUEUE, records)
  read_places(hosts)
  for at, host in ipairs(hosts) do
    stand(host, stands[at])
  end
  save_seen()
  changed()
  save()
end
if is == 'new' then
  remember(mine, 'push', answer)
end
return {is, answer}
