-- Gives the right to change the moved part of the audit record back. Safe to repeat.
-- Keys       lease   wanted
-- Arguments  name: of the caller
if redis.call('HGET', keys.lease, 'name') == args.name then redis.call('DEL', keys.lease) end
if redis.call('GET', keys.wanted) == args.name then redis.call('DEL', keys.wanted) end
