-- Gives a lock back if it is still the owner's. Answers 1 or 0. Safe to repeat.
if redis.call('GET', keys.lock) == args.owner then return redis.call('DEL', keys.lock) end
return 0
