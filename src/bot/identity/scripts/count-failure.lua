-- Counts a failed request in the current minute. Not repeatable, but counting twice after a reconnect is harmless.
--
-- Keys       counter
-- Arguments  lifeMs
-- Returns    the count
local failures = redis.call('INCR', keys.counter)
if failures == 1 then redis.call('PEXPIRE', keys.counter, args.lifeMs) end
return failures
