-- Removes a person's link with its tokens, reverse index and re-check, once per requesting message. Called again after a
-- failover, it removes only a link from before the original call, and stores the original outcome of the message.
-- Constants  CHANGED_LIFE_MS (how long the time of a person's last link change is kept)
-- Keys       link   rechecks: index of re-checks   outcome: of the message   changed: time of the person's last link change
-- Arguments  person   holderPrefix: of holder keys   outcomeLifeMs   undoneAtMs: time of the unlink before a failover ('' for now)
--            outcomeThen: the original outcome of the message
-- Returns    wasLinked: whether there was a link   undoneAtMs: 0 if no longer known. Safe to repeat: the same message gets the
--            same answer, and a link created since is kept.
local isAgain = args.undoneAtMs ~= ''
local changedMs = tonumber(redis.call('GET', keys.changed) or '0')
local before = redis.call('GET', keys.outcome)
local account = redis.call('HGET', keys.link, 'accountKey')
-- guard: repeatable-scripts/unlinked
if before and not isAgain then return answer { wasLinked = tonumber(before), undoneAtMs = account and 0 or changedMs } end
redis.call('SET', keys.outcome, isAgain and args.outcomeThen or account and '1' or '0', 'PX', args.outcomeLifeMs)
-- A later change takes precedence, and so does this one if it is already recorded.
if isAgain and changedMs >= tonumber(args.undoneAtMs) then return answer { wasLinked = 0, undoneAtMs = changedMs } end
local undoneMs = isAgain and tonumber(args.undoneAtMs) or math.max(redisNowMs(), changedMs + 1)
redis.call('SET', keys.changed, undoneMs, 'PX', CHANGED_LIFE_MS)
redis.call('ZREM', keys.rechecks, args.person)
if not account then return answer { wasLinked = 0, undoneAtMs = undoneMs } end
if redis.call('GET', args.holderPrefix .. account) == args.person then redis.call('DEL', args.holderPrefix .. account) end
redis.call('DEL', keys.link)
return answer { wasLinked = 1, undoneAtMs = undoneMs }
