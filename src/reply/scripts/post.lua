-- Asks the fence before an outside post, and keeps the ledger of it: unsent → posting (its fate is unknown) → its handle.
-- `posting` is stored before the post leaves, so that a worker that finds it asks the platform and never posts blindly; and
-- since when, so that it knows from when on the platform cannot carry it out any more.
-- Safe to repeat: a handle is noted once more, and a post that may leave is noted as younger.
--
-- Constants  RECORD_LIFE_MS (of the record, should it have expired meanwhile), PLACE_LIFE_MS (of the posts of a place)
-- KEYS  1 state   2 message record   3 posts of the place: a sorted set of `delivery id:part` by when one of them may have left,
--       and of `stray:handle` for messages that are nobody's (claim-stray.lua)
-- ARGV  1 epoch   2 part of the answer, from 0   3 handle of the message that stands now ('' = none that is not noted)
--       4 the sealed full answer, right before its last snapshot: begin.lua gives it to whoever takes over ('' = not yet)
--       5 '1' when this worker knows that nothing of the part is under way, so that a post may leave now   6 delivery id
--       7 how old a post is taken to be of which only a failover's loss makes one think, ms
-- Returns {'stale' | 'gone' (the handle is nobody's by now), '', 0} |
--         {'ok', 'unsent' | 'posting' | handle, how long ago a post may have left, ms, '1' if this worker noted that itself}
if tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0') ~= tonumber(ARGV[1]) then return {'stale', '', 0} end
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'answer', ARGV[4]) end
local field, since, by, handle = 'post:' .. ARGV[2], 'since:' .. ARGV[2], 'by:' .. ARGV[2], ARGV[3]
local found = redis.call('HMGET', KEYS[2], field, 'again', since, by)

local function note(...)
  redis.call('HSET', KEYS[2], ...)
  if redis.call('PTTL', KEYS[2]) == -1 then redis.call('PEXPIRE', KEYS[2], RECORD_LIFE_MS) end
end

if handle ~= '' then
  -- A handle may go on behind a slash from the one that was claimed.
  for at in string.gmatch(handle .. '/', '()/') do
    if redis.call('ZSCORE', KEYS[3], 'stray:' .. string.sub(handle, 1, at - 1)) then return {'gone', '', 0} end
  end
  note(field, handle)
  return {'ok', handle, 0}
end
if found[1] and found[1] ~= 'posting' then return {'ok', found[1], 0} end

local nowMs = redisNowMs()
-- A failover may have taken the ledger's newest lines (accept.lua): then what is not there may have been posted. It would
-- have left before the failover, so that little of the time in which it may be late is left.
local known = (found[1] or found[2]) and 'posting' or 'unsent'
local leavesNow = ARGV[5] == '1' or known == 'unsent'
local notedMs = not leavesNow and tonumber(found[3] or nil)
local sinceMs = notedMs or known == 'posting' and not leavesNow and not found[1] and nowMs - ARGV[7] or nowMs
if not notedMs then
  note(field, 'posting', since, sinceMs, by, leavesNow and ARGV[1] or '')
  redis.call('ZADD', KEYS[3], nowMs, ARGV[6] .. ':' .. ARGV[2])
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', nowMs - PLACE_LIFE_MS)
  redis.call('PEXPIRE', KEYS[3], PLACE_LIFE_MS)
end
return {'ok', known, nowMs - sinceMs, found[4] == ARGV[1] and '1' or '0'}
