-- Asks the fence before an outside post, and keeps the ledger of it: unsent → posting (its fate is unknown) → its handle.
-- `posting` is stored before the post leaves, so that a worker that finds it asks the platform and never posts blindly.
--
-- Constants  RECORD_LIFE_MS (of the record, should it have expired meanwhile)
-- KEYS  1 state   2 message record
-- ARGV  1 epoch   2 part of the answer, from 0   3 handle of the message that stands now ('' = none that is not noted)
--       4 the sealed full answer, right before its last look: begin.lua gives it to whoever takes over ('' = not yet)
-- Returns {'stale', ''} | {'ok', 'unsent' | 'posting' | handle}
if tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0') ~= tonumber(ARGV[1]) then return {'stale', ''} end
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'answer', ARGV[4]) end
local field = 'post:' .. ARGV[2]
local found = redis.call('HMGET', KEYS[2], field, 'again')
-- A failover may have taken the ledger's newest lines (accept.lua): then what is not there may have been posted.
local known = found[1] or found[2] and 'posting'
if ARGV[3] ~= '' or not found[1] then
  redis.call('HSET', KEYS[2], field, ARGV[3] ~= '' and ARGV[3] or 'posting')
  if redis.call('PTTL', KEYS[2]) == -1 then redis.call('PEXPIRE', KEYS[2], RECORD_LIFE_MS) end
end
return {'ok', ARGV[3] ~= '' and ARGV[3] or known or 'unsent'}
