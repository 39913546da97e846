-- Sets a mark unless somebody has: of any number of callers one is the first, for as long as the mark lives.
-- args  name: of the caller   lifeMs
-- Answers 1 for the first, else 0. Safe to repeat: the first one stays the first.
if redis.call('SET', keys.mark, args.name, 'PX', args.lifeMs, 'NX') then return 1 end
return redis.call('GET', keys.mark) == args.name and 1 or 0
