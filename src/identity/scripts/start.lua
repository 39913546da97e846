-- Binds a ticket to one browser and stores that browser's transaction; later authorizations of the same flow come here again.
-- KEYS: 1 ticket, 2 transaction of the (new) cookie
-- ARGV: 1 now (ms), 2 hash of the cookie that the browser showed, 3 hash of the cookie that it holds from now on,
--       4 transaction, 5 transaction life (ms), 6 prefix of transaction keys, 7 prefix of quarantine keys
--       8 how many starts one ticket has
-- Output: 'started' | 'gone' (unknown, expired, used, or another browser's) | 'too-often'. Safe to repeat: it is counted once more.
local ticket = redis.call('HMGET', KEYS[1], 'status', 'expiresAtMs', 'browser', 'startedFrom')
if not ticket[1] or tonumber(ticket[2]) <= tonumber(ARGV[1]) then return 'gone' end
local isOwn = ticket[3] == ARGV[2] or ticket[4] == ARGV[2] or ticket[3] == ARGV[3]
if not (ticket[1] == 'new' or (ticket[1] == 'started' and isOwn)) then return 'gone' end
if redis.call('HINCRBY', KEYS[1], 'starts', 1) > tonumber(ARGV[8]) then return 'too-often' end

if ticket[3] and ticket[3] ~= ARGV[3] then
  redis.call('DEL', ARGV[6] .. ticket[3], ARGV[7] .. ticket[3])
end
redis.call('HSET', KEYS[1], 'status', 'started', 'browser', ARGV[3])
if ARGV[2] ~= ARGV[3] then redis.call('HSET', KEYS[1], 'startedFrom', ARGV[2]) end
redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])
return 'started'
