-- Writes a conversation's summary if its inputs still exist: the summary (or the mark of a cleared one) that it started from,
-- and the newest turn that it covers. Forgotten content thus does not return in a summary.
-- The usage is added to the person's usage in the same step, once and only for a summary that is stored.
-- Safe to repeat: the second time the script finds the summary that it wrote.
--
-- Keys       summary   history   usage: of the person
-- Arguments  startedFrom: '' = none   newestCovered: encrypted record of the newest turn that it covers   sealed: the summary   lifeMs
--            usageLifeMs   counts: usage fields and their increments
-- Returns    'written' | 'stale'
local kept = redis.call('GET', keys.summary) or ''
-- guard: repeatable-scripts/written-summary
if kept == args.sealed then return 'written' end
if kept ~= args.startedFrom then return 'stale' end
if not redis.call('LPOS', keys.history, args.newestCovered) then return 'stale' end
redis.call('SET', keys.summary, args.sealed, 'PX', args.lifeMs)
for at = 1, #args.counts, 2 do redis.call('HINCRBY', keys.usage, args.counts[at], args.counts[at + 1]) end
if keys.usage then redis.call('PEXPIRE', keys.usage, args.usageLifeMs) end
return 'written'
