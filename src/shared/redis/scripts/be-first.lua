-- Sets a mark unless it exists: exactly one of any number of callers is the first during the mark's lifetime.
-- Keys       mark
-- Arguments  name: of the caller   lifeMs
-- Returns    1 for the first caller, else 0. Safe to repeat: the first caller gets 1 again.
if redis.call('SET', keys.mark, args.name, 'PX', args.lifeMs, 'NX') then return 1 end
return redis.call('GET', keys.mark) == args.name and 1 or 0
