-- Begins to await a typed code (SECURITY.md typed-code), or puts a new code in the old one's place. Ticket, quarantine
-- and the person's live ticket go on for as long as the code does.
-- KEYS: 1 ticket, 2 quarantine of the browser, 3 live ticket of the person, 4 the new code's ticket
-- ARGV: 1 now (ms), 2 cookie hash, 3 ticket hash, 4 quarantine as it was read, 5 quarantine with its new end, 6 MAC of the
--       code, 7 its serial, 8 its end (ms), 9 its life (ms), 10 how long its end is remembered after it (ms), 11 language
-- Output: 1, or 0 when nothing changed: the ticket is over or another browser's, or this or a later code is shown by now.
-- Safe to repeat: a repeat changes nothing, and the caller looks at what is shown.
local ticket = redis.call('HMGET', KEYS[1], 'status', 'expiresAtMs', 'browser', 'codeSerial')
if ticket[3] ~= ARGV[2] or tonumber(ticket[2] or '0') <= tonumber(ARGV[1]) then return 0 end
local isNext = ticket[1] == 'awaiting_code' and tonumber(ticket[4]) + 1 == tonumber(ARGV[7])
if not isNext and not (ticket[1] == 'started' and ARGV[7] == '1') then return 0 end
if redis.call('GET', KEYS[2]) ~= ARGV[4] or redis.call('GET', KEYS[3]) ~= ARGV[3] then return 0 end

redis.call('HSET', KEYS[1], 'status', 'awaiting_code', 'expiresAtMs', ARGV[8], 'codeSerial', ARGV[7], 'codeMac', ARGV[6],
  'language', ARGV[11])
local remembered = tonumber(ARGV[9]) + tonumber(ARGV[10])
redis.call('PEXPIRE', KEYS[1], remembered)
redis.call('PEXPIRE', KEYS[3], remembered)
redis.call('SET', KEYS[2], ARGV[5], 'PX', ARGV[9])
redis.call('SET', KEYS[4], ARGV[3], 'PX', ARGV[9])
return 1
