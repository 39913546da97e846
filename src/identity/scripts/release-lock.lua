-- Gives a lock back if it is still the owner's. KEYS: 1 lock; ARGV: 1 owner. Output: 1 or 0. Safe to repeat.
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
