-- Takes bytes out of a share that many have together, unless it is used up.
-- KEYS  1 bytes taken   ARGV  1 how many   2 life of the count, ms   3 most
-- Output: 1 when they are taken, else 0. Sent twice, it takes them twice: never more than the share.
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
if used + ARGV[1] > tonumber(ARGV[3]) then return 0 end
redis.call('INCRBY', KEYS[1], ARGV[1])
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
