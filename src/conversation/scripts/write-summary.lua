-- Writes a conversation's summary, if it was made from what still stands: the summary (or the mark of a cleared one) that it
-- started from, and the newest turn that it covers. What was forgotten meanwhile does not come back in other words.
-- What it cost is added to a person's use in the same step: once, and only for a summary that is kept.
-- Safe to repeat: the second time it finds what it wrote.
--
-- KEYS  1 summary   2 history   3 the person's use
-- ARGV  1 what it started from ('' = nothing)   2 sealed record of the newest turn that it covers   3 sealed summary   4 life, ms
--       5 life of the use, ms   6… fields of the use, and how much each grows
-- Returns 'written' | 'stale'
local kept = redis.call('GET', KEYS[1]) or ''
if kept == ARGV[3] then return 'written' end
if kept ~= ARGV[1] then return 'stale' end
if not redis.call('LPOS', KEYS[2], ARGV[2]) then return 'stale' end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
for at = 6, #ARGV, 2 do redis.call('HINCRBY', KEYS[3], ARGV[at], ARGV[at + 1]) end
if KEYS[3] then redis.call('PEXPIRE', KEYS[3], ARGV[5]) end
return 'written'
