-- Counts a password that is about to be looked at, unless a limit is reached; in one step, so that tries at once do not slip past.
-- Counters only: a try that is counted twice after a reconnect does no harm.
-- KEYS: 1 failures of the name at the address, 2 of the name anywhere, 3 of the address, 4 mark of a place the person knows
-- ARGV: 1 to 3 limits of KEYS 1 to 3, 4 window (ms)
-- Output: {may it be looked at (1 or 0), tries of the name at the address, ms until the window ends, counters in use (1 or 3)}
local inUse = redis.call('EXISTS', KEYS[4]) == 1 and 1 or 3
for index = 1, inUse do
  local count = tonumber(redis.call('GET', KEYS[index]) or '0')
  if count >= tonumber(ARGV[index]) then return { 0, count, redis.call('PTTL', KEYS[index]), inUse } end
end
for index = 1, inUse do
  if redis.call('INCR', KEYS[index]) == 1 then redis.call('PEXPIRE', KEYS[index], ARGV[4]) end
end
return { 1, tonumber(redis.call('GET', KEYS[1])), redis.call('PTTL', KEYS[1]), inUse }
