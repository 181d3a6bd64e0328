-- Who takes part. KEYS[1] is the fleet's own name. Answer: the heartbeats of all.

return redis.call('HGETALL', KEYS[1] .. ':beats')
