-- Write what one worker knows for all: only what nobody has written otherwise, later.
--
-- KEYS: notice board, learned rules, moved seeds. ARGV: what, then its arguments:
--   parameters JSON origin since is_first   parameters of verdicts; the first ones where there are
--                                           none yet, else the ones that hold from now on
--   rules (rule JSON)...                    a rule that ended stays ended
--   moved seed target                       where a seed was redirected to
-- Answer: the version of what was written, which rises with each change. Carried out twice, it
-- changes nothing.

local board, rules, moved = KEYS[1], KEYS[2], KEYS[3]
local what = ARGV[1]

local function version(field, is_changed)
  if is_changed then
    return redis.call('HINCRBY', board, field, 1)
  end
  return tonumber(redis.call('HGET', board, field) or '0')
end

if what == 'parameters' then
  local held = redis.call('HGET', board, 'parameters')
  local is_changed = held ~= ARGV[2] and (not held or ARGV[5] ~= '1')
  if is_changed then
    redis.call('HSET', board, 'parameters', ARGV[2], 'origin', ARGV[3], 'since', ARGV[4])
  end
  return version('parameters_version', is_changed)
end

if what == 'rules' then
  local is_changed = false
  for at = 2, #ARGV, 2 do
    local held = redis.call('HGET', rules, ARGV[at])
    local holds = held and cjson.decode(held)['holds']
    if not held or (holds and not cjson.decode(ARGV[at + 1])['holds']) then
      redis.call('HSET', rules, ARGV[at], ARGV[at + 1])
      is_changed = true
    end
  end
  return version('rules_version', is_changed)
end

return version('moved_version', redis.call('HSETNX', moved, ARGV[2], ARGV[3]) == 1)
