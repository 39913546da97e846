-- Counts a useless request in the present minute. Answers those so far.
-- Counted twice after a reconnect it does no harm.
local failures = redis.call('INCR', keys.counter)
if failures == 1 then redis.call('PEXPIRE', keys.counter, args.lifeMs) end
return failures
