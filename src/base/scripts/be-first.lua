-- Sets a mark unless somebody has: of any number of callers one is the first, for as long as the mark lives.
-- KEYS: 1 mark; ARGV: 1 name of the caller, 2 life (ms)
-- Output: 1 for the first, else 0. Safe to repeat: the first one stays the first.
if redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') then return 1 end
return redis.call('GET', KEYS[1]) == ARGV[1] and 1 or 0
