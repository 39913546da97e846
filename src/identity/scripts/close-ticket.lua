-- Ends a ticket that was refused: it can be used no more, and the person's next message mints a new one.
-- KEYS: 1 ticket, 2 live ticket of the person, 3 quarantine of the browser
-- ARGV: 1 new status, 2 ticket hash, 3 name of this closing
-- Output: 1 when it was open, else 0 (so that people are told once). Safe to repeat.
local status, closing = unpack(redis.call('HMGET', KEYS[1], 'status', 'closing'))
redis.call('DEL', KEYS[3])
if closing == ARGV[3] then return 1 end
if status ~= 'new' and status ~= 'started' and status ~= 'awaiting_code' then return 0 end
redis.call('HSET', KEYS[1], 'status', ARGV[1], 'closing', ARGV[3])
if redis.call('GET', KEYS[2]) == ARGV[2] then redis.call('DEL', KEYS[2]) end
return 1
