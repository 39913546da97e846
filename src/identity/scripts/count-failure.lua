-- Counts a useless request in the present minute. KEYS: 1 counter; ARGV: 1 life (ms). Output: those so far.
-- Counted twice after a reconnect it does no harm.
local failures = redis.call('INCR', KEYS[1])
if failures == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return failures
