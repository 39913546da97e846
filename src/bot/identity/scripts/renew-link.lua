-- Gives a link and its reverse index their full life again, and sets its next re-check.
-- keys  link   rechecks: index of re-checks
-- args  person   lifeMs   nextCheckAtMs   holderPrefix: of holder keys
-- Answers 1, or 0 when the link is gone (its place in the index goes too). Safe to repeat.
local account = redis.call('HGET', keys.link, 'accountKey')
if not account then
  redis.call('ZREM', keys.rechecks, args.person)
  return 0
end
redis.call('PEXPIRE', keys.link, args.lifeMs)
redis.call('PEXPIRE', args.holderPrefix .. account, args.lifeMs)
redis.call('ZADD', keys.rechecks, args.nextCheckAtMs, args.person)
redis.call('PEXPIRE', keys.rechecks, args.lifeMs)
return 1
