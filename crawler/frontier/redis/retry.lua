-- Let requests that broke at every try wait again, as new ones; some of them in each call.
--
-- ARGV: cursor of this call, how many it looks at. Answer: cursor of the next call, 0 for none.
--
-- A record that is none, as another program may write it, stays where it is.

local cursor, found = unpack(redis.call('HSCAN', FAILED, ARGV[1], 'COUNT', ARGV[2]))
local has_changed = false
for at = 1, #found, 2 do
  local id, rest_of_it = found[at], found[at + 1]
  if #id == ID and is_whole(id .. rest_of_it) then
    local again = string.byte(rest_of_it) >= AGAIN and AGAIN or 0
    put_back(id, string.char(again) .. string.sub(rest_of_it, 2))
    redis.call('HDEL', FAILED, id)
    has_changed = true
  end
end
if has_changed then
  changed()
  save()
end
return cursor
