-- Ends the ticket whose code was seen where it must not be: in a group, or with another person (SECURITY.md typed-code).
-- KEYS: 1 the code's ticket, 2 what became of the sender's messages
-- ARGV: 1 MAC of the code, 2 prefix of ticket keys, 3 prefix of quarantine keys, 4 prefix of live tickets, 5 message,
--       6 what becomes of it, 7 life of 2 (ms), 8 name of this spoiling
-- Output: {ticket hash, sealed person} of the ticket that ended now, or nothing. Safe to repeat: the code is known, and of no
-- use, for as long as it would have lived.
local hash = redis.call('GET', KEYS[1])
if not hash then return {} end
local ticket = redis.call('HMGET', ARGV[2] .. hash, 'status', 'codeMac', 'browser', 'person', 'sealed', 'spoiling')
if ticket[6] == ARGV[8] then return { hash, ticket[5] } end
if ticket[1] ~= 'awaiting_code' or ticket[2] ~= ARGV[1] then return {} end
redis.call('HSET', ARGV[2] .. hash, 'status', 'abused', 'spoiling', ARGV[8])
redis.call('DEL', ARGV[3] .. ticket[3])
if redis.call('GET', ARGV[4] .. ticket[4]) == hash then redis.call('DEL', ARGV[4] .. ticket[4]) end
redis.call('HSETNX', KEYS[2], ARGV[5], ARGV[6])
redis.call('PEXPIRE', KEYS[2], ARGV[7])
return { hash, ticket[5] }
