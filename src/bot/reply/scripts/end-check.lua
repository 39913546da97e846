-- Removes a check that was done, unless it has been stored again since.
--
-- Keys       due: checks by due time   checks: hash of `time stored:sealed check` by id
-- Arguments  id   storedMs: when the check that was done was stored
-- Returns    1, or 0 if it has been stored again
if string.match(redis.call('HGET', keys.checks, args.id) or '', '^(%d+):') ~= args.storedMs then return 0 end
redis.call('HDEL', keys.checks, args.id)
redis.call('ZREM', keys.due, args.id)
return 1
