-- Stores a check of a delivered answer. A repetition replaces it.
--
-- Constants  MAX_CHECKS   KEPT_MS (life of the keys after the last check)
-- Keys       due: checks by due time   checks: hash of `time stored:sealed check` by id
-- Arguments  id   sealed   delayMs: until it is due
-- Returns    1, or 0 if too many are stored
if redis.call('ZCARD', keys.due) >= MAX_CHECKS and not redis.call('ZSCORE', keys.due, args.id) then return 0 end
local nowMs = redisNowMs()
redis.call('HSET', keys.checks, args.id, nowMs .. ':' .. args.sealed)
redis.call('ZADD', keys.due, nowMs + args.delayMs, args.id)
redis.call('PEXPIRE', keys.checks, KEPT_MS)
redis.call('PEXPIRE', keys.due, KEPT_MS)
return 1
