-- Asks the fence before an outside post, and keeps the ledger of it: unsent → posting (its fate is unknown) → its handle.
-- `posting` is stored before the post leaves, so that a worker that finds it asks the platform and never posts blindly; and
-- since when, so that it knows from when on the platform cannot carry it out any more.
-- Safe to repeat: a handle is noted once more, and a post that may leave is noted as younger.
--
-- Constants  RECORD_LIFE_MS (of the record, should it have expired meanwhile), PLACE_LIFE_MS (of the posts of a place)
-- keys  state   record: of the message   place: its posts: a sorted set of `delivery id:part` by when one of them may have left,
--       and of `stray:handle` for messages that are nobody's (claim-stray.lua)
-- args  epoch   part: of the answer, from 0   handle: of the message that stands now ('' = none that is not noted)
--       answer: sealed and whole, right before its last snapshot: begin.lua gives it to whoever takes over ('' = not yet)
--       isUnsent: this worker knows that nothing of the part is under way, so that a post may leave now   deliveryId
--       left: handle of a message that the part leaves, since the platform takes no more of it ('' = none): another is posted
--       doubtedAgeMs: how old a post is taken to be of which only a failover's loss makes one think
-- Answers verdict: 'stale' | 'gone' (the handle is nobody's by now) | 'ok', with known: 'unsent' | 'posting' | handle
--         sinceMs: how long ago a post may have left   isOwn: this worker noted that itself
--         left: handles of messages that the part has left, separated by blanks
if tonumber(redis.call('HGET', keys.state, 'epoch') or '0') ~= tonumber(args.epoch) then return answer { verdict = 'stale' } end
if args.answer ~= '' then redis.call('HSET', keys.state, 'answer', args.answer) end
local field, since, by, handle = 'post:' .. args.part, 'since:' .. args.part, 'by:' .. args.part, args.handle
local leftField = 'left:' .. args.part
local found = redis.call('HMGET', keys.record, field, 'again', since, by, leftField)
local left = found[5] or ''

local function note(...)
  redis.call('HSET', keys.record, ...)
  if redis.call('PTTL', keys.record) == -1 then redis.call('PEXPIRE', keys.record, RECORD_LIFE_MS) end
end

if args.left ~= '' and (found[1] == args.left or (found[1] == 'posting' and found[4] == args.epoch)) then
  if not string.find(' ' .. left .. ' ', ' ' .. args.left .. ' ', 1, true) then
    left = left == '' and args.left or left .. ' ' .. args.left
    note(leftField, left)
  end
  if found[1] == args.left then
    redis.call('HDEL', keys.record, field, since, by)
    found[1], found[3], found[4] = false, false, false
  end
end

if handle ~= '' then
  -- A handle may go on behind a slash from the one that was claimed.
  for at in string.gmatch(handle .. '/', '()/') do
    if redis.call('ZSCORE', keys.place, 'stray:' .. string.sub(handle, 1, at - 1)) then return answer { verdict = 'gone' } end
  end
  note(field, handle)
  return answer { verdict = 'ok', known = handle, left = left }
end
if found[1] and found[1] ~= 'posting' then return answer { verdict = 'ok', known = found[1], left = left } end

local nowMs = redisNowMs()
-- A failover may have taken the ledger's newest lines (accept.lua): then what is not there may have been posted. It would
-- have left before the failover, so that little of the time in which it may be late is left.
local known = (found[1] or found[2]) and 'posting' or 'unsent'
local leavesNow = args.isUnsent == '1' or known == 'unsent'
local notedMs = not leavesNow and tonumber(found[3] or nil)
local sinceMs = notedMs or known == 'posting' and not leavesNow and not found[1] and nowMs - args.doubtedAgeMs or nowMs
if not notedMs then
  note(field, 'posting', since, sinceMs, by, leavesNow and args.epoch or '')
  redis.call('ZADD', keys.place, nowMs, args.deliveryId .. ':' .. args.part)
  redis.call('ZREMRANGEBYSCORE', keys.place, '-inf', nowMs - PLACE_LIFE_MS)
  redis.call('PEXPIRE', keys.place, PLACE_LIFE_MS)
end
return answer { verdict = 'ok', known = known, sinceMs = nowMs - sinceMs, isOwn = found[4] == args.epoch, left = left }
