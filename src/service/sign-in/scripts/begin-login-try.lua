-- Counts a password that is about to be looked at, unless a limit is reached; in one step, so that tries at once do not slip past.
-- Counters only: a try that is counted twice after a reconnect does no harm.
-- KEYS: 1 failures of the name in this browser where it is known, else at the address; 2 of the name anywhere, 3 of the address
-- ARGV: 1 whether the browser is known (1 or 0), 2 to 4 limits of KEYS 1 to 3, 5 window (ms)
-- Output: {may it be looked at (1 or 0), tries counted in KEYS 1, ms until the window ends}
local isKnown = ARGV[1] == '1'
local function isFull(index) return tonumber(redis.call('GET', KEYS[index]) or '0') >= tonumber(ARGV[index + 1]) end
local closed
if isKnown then
  closed = isFull(1) and 1
else
  closed = isFull(3) and 3 or isFull(2) and isFull(1) and 2
end
if closed then return { 0, 0, redis.call('PTTL', KEYS[closed]) } end
for index = 1, 3 do
  if redis.call('INCR', KEYS[index]) == 1 then redis.call('PEXPIRE', KEYS[index], ARGV[5]) end
end
return { 1, tonumber(redis.call('GET', KEYS[1])), redis.call('PTTL', KEYS[1]) }
