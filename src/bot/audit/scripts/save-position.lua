-- Records how far the entries of each partition were moved, and where each file ends. Refused if the caller's lease has ended.
-- Safe to repeat.
-- Keys       lease   positions
-- Arguments  epoch: of the caller's lease   fields: name, value, …
-- Returns    1, or 0 if refused
-- guard: audit-record/one-mover
if redis.call('HGET', keys.lease, 'epoch') ~= args.epoch then return 0 end
redis.call('HSET', keys.positions, unpack(args.fields))
return 1
