-- Removes what is left of a shard in which nothing waits or runs any more. Safe to repeat.
--
-- keys  wait   active   rest: of what the queue keeps
-- Answers 1, or 0 when something is in it
if redis.call('LLEN', keys.wait) + redis.call('LLEN', keys.active) > 0 then return 0 end
redis.call('DEL', keys.wait, keys.active, unpack(keys.rest))
return 1
