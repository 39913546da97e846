-- Removes a person's link with its tokens, reverse index and re-check; once for each message that asks for it. Once more
-- after a failover it removes only what was linked before, and what the message is told is what it was told then.
-- Constants  CHANGED_LIFE_MS (how long it is known when a person's link changed)
-- keys  link   rechecks: index of re-checks   outcome: what became of the message   changed: when the person's link changed
-- args  person   holderPrefix: of holder keys   outcomeLifeMs   undoneAtMs: when it was undone before a failover ('' for now)
--       outcomeThen: what became of the message then
-- Answers wasLinked: whether there was a link   undoneAtMs: 0 where that is not known any more. Safe to repeat:
--         the same message is told the same, and a link that was made since stays.
local isAgain = args.undoneAtMs ~= ''
local changedMs = tonumber(redis.call('GET', keys.changed) or '0')
local before = redis.call('GET', keys.outcome)
local account = redis.call('HGET', keys.link, 'accountKey')
if before and not isAgain then return answer { wasLinked = tonumber(before), undoneAtMs = account and 0 or changedMs } end
redis.call('SET', keys.outcome, isAgain and args.outcomeThen or account and '1' or '0', 'PX', args.outcomeLifeMs)
-- A later change counts, and so does this one where it is known.
if isAgain and changedMs >= tonumber(args.undoneAtMs) then return answer { wasLinked = 0, undoneAtMs = changedMs } end
local undoneMs = isAgain and tonumber(args.undoneAtMs) or math.max(redisNowMs(), changedMs + 1)
redis.call('SET', keys.changed, undoneMs, 'PX', CHANGED_LIFE_MS)
redis.call('ZREM', keys.rechecks, args.person)
if not account then return answer { wasLinked = 0, undoneAtMs = undoneMs } end
if redis.call('GET', args.holderPrefix .. account) == args.person then redis.call('DEL', args.holderPrefix .. account) end
redis.call('DEL', keys.link)
return answer { wasLinked = 1, undoneAtMs = undoneMs }
