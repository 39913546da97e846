-- Renews the full lifetime of a link and its reverse index, and schedules its next re-check.
-- Keys       link   rechecks: index of re-checks
-- Arguments  person   lifeMs   nextCheckAtMs   holderPrefix: of holder keys
-- Returns    1, or 0 if there is no link (its index entry is removed as well). Safe to repeat.
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
