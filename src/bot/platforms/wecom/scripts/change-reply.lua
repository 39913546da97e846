-- Changes the place of an answer that is still open; only for the holder of the connection. Safe to repeat.
--
-- Keys       lease (hold-lease.lua)   replies (open-reply.lua)
-- Arguments  number: of the holder's lease   id   sealed
-- Returns    1, or 0 when it has ended or another process holds the connection
if redis.call('HGET', keys.lease, 'number') ~= args.number then return 0 end
local known = redis.call('HGET', keys.replies, args.id)
if not known then return 0 end
redis.call('HSET', keys.replies, args.id, string.match(known, '^%d+ ') .. args.sealed)
return 1
