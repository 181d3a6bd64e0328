-- Return what a worker holds, some of it in each call; then forget the worker, or let it begin anew.
--
-- ARGV: worker, the incarnation that is meant ('' for any), how many requests at most in this call,
-- how long its hosts rest in ms at least ('' for what it asked for when it began), then where it begins
-- anew: the incarnation, and how long its hosts are to rest when it dies.
-- Answer: 1 where something is left to return.
--
-- A record without an incarnation is that of a worker whose return has begun: nothing is leased
-- to it any more. Each step may be carried out twice.

local worker, meant, most, rest_ms = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local mine = keys_of(worker)
local known = redis.call('HMGET', mine.record, 'incarnation', 'rest')
if known[1] and ARGV[5] and known[1] == ARGV[5] then
  return 0
end
if known[1] and known[1] ~= '' and meant ~= '' and known[1] ~= meant then
  return 0
end

local function return_from(where)
  local found = redis.call('HSCAN', where, 0, 'COUNT', most)[2]
  local held, ids = {}, {}
  for at = 1, #found, 2 do
    ids[#ids + 1], held[found[at]] = found[at], found[at + 1]
  end
  table.sort(ids)
  for _, id in ipairs(ids) do
    put_back(id, held[id])
  end
  call_each('HDEL', where, ids)
  return redis.call('EXISTS', where) == 1
end

local function free_hosts()
  local ms = tonumber(rest_ms ~= '' and rest_ms or known[2])
  local owned = redis.call('SMEMBERS', mine.hosts)
  table.sort(owned)
  for _, host in ipairs(owned) do
    rest(host, math.max(ms, tonumber(redis.call('HGET', DELAYS, host) or '') or 0))
  end
  redis.call('DEL', mine.hosts)
end

if known[1] then
  redis.call('HSET', mine.record, 'incarnation', '')
  changed()
  if return_from(mine.leases) or return_from(mine.parked) then
    save()
    return 1
  end
  free_hosts()
  redis.call('DEL', mine.record)
  redis.call('SREM', WORKERS, worker)
end
if ARGV[5] then
  redis.call('SADD', WORKERS, worker)
  redis.call('HSET', mine.record, 'incarnation', ARGV[5], 'rest', ARGV[6])
end
save()
return 0
