-- Claims due checks of delivered answers for a time. If the command is sent twice, the second run finds nothing due; the
-- first run's claims become due again when they expire.
--
-- Constants  CLAIMED_MS
-- Keys       due: checks by due time   checks: hash of `time stored:sealed check` by id
-- Arguments  limit
-- Returns    of each id   storedMs   sealed   ageMs: since it was stored
local nowMs = redisNowMs()
local taken = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', keys.due, '-inf', nowMs, 'LIMIT', 0, args.limit)) do
  local storedMs, sealed = string.match(redis.call('HGET', keys.checks, id) or '', '^(%d+):(.*)$')
  if storedMs then
    redis.call('ZADD', keys.due, nowMs + CLAIMED_MS, id)
    taken[#taken + 1] = answer { id = id, storedMs = storedMs, sealed = sealed, ageMs = nowMs - tonumber(storedMs) }
  else
    redis.call('ZREM', keys.due, id)
  end
end
return taken
