-- Releases a lock if the owner still holds it. Safe to repeat.
--
-- Keys       lock
-- Arguments  owner
-- Returns    1, or 0 if another owner holds it or it has expired
-- guard: owner-releases/own-lock
if redis.call('GET', keys.lock) == args.owner then return redis.call('DEL', keys.lock) end
return 0
