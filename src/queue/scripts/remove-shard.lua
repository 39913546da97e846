-- Removes what is left of a shard in which nothing waits or runs any more. Safe to repeat.
--
-- KEYS  1 wait   2 active   3 … the rest of what the queue keeps
-- Returns 1, or 0 when something is in it
if redis.call('LLEN', KEYS[1]) + redis.call('LLEN', KEYS[2]) > 0 then return 0 end
redis.call('DEL', unpack(KEYS))
return 1
