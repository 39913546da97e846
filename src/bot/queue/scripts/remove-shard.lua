-- Removes the keys of a shard in which nothing waits or runs. Safe to repeat.
--
-- Keys       wait   active   rest: the queue's other keys
-- Returns    1, or 0 if the shard is not empty
if redis.call('LLEN', keys.wait) + redis.call('LLEN', keys.active) > 0 then return 0 end
redis.call('DEL', keys.wait, keys.active, unpack(keys.rest))
return 1
