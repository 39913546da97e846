-- Writes a conversation's summary, if it was made from what still stands: the summary (or the mark of a cleared one) that it
-- started from, and the newest turn that it covers. What was forgotten meanwhile does not come back in other words.
-- What it cost is added to a person's use in the same step: once, and only for a summary that is kept.
-- Safe to repeat: the second time it finds what it wrote.
--
-- keys  summary   history   usage: of the person
-- args  startedFrom: '' = nothing   newestCovered: sealed record of the newest turn that it covers   sealed: the summary   lifeMs
--       usageLifeMs   counts: fields of the use, and how much each grows
-- Answers 'written' | 'stale'
local kept = redis.call('GET', keys.summary) or ''
if kept == args.sealed then return 'written' end
if kept ~= args.startedFrom then return 'stale' end
if not redis.call('LPOS', keys.history, args.newestCovered) then return 'stale' end
redis.call('SET', keys.summary, args.sealed, 'PX', args.lifeMs)
for at = 1, #args.counts, 2 do redis.call('HINCRBY', keys.usage, args.counts[at], args.counts[at + 1]) end
if keys.usage then redis.call('PEXPIRE', keys.usage, args.usageLifeMs) end
return 'written'
