-- How much of each there is in a shard, and of each worker.
--
-- Answer: changes, waiting, done, failed, hosts, seen keys, unreadable records, then of each worker its name, leases,
-- parked requests and hosts.

local answer = {
  numbers.changes, redis.call('ZCARD', QUEUE), numbers.done,
  redis.call('HLEN', FAILED), redis.call('HLEN', HOSTS), numbers.seen,
  redis.call('HLEN', UNREADABLE),
}
for _, worker in ipairs(redis.call('SMEMBERS', WORKERS)) do
  local its = keys_of(worker)
  for _, part in ipairs({worker, redis.call('HLEN', its.leases), redis.call('HLEN', its.parked),
                         redis.call('SCARD', its.hosts)}) do
    answer[#answer + 1] = part
  end
end
return answer
