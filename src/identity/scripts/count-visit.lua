-- Counts a visit in the present minute. KEYS: 1 counter; ARGV: 1 life (ms). Output: visits so far.
local visits = redis.call('INCR', KEYS[1])
if visits == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return visits
