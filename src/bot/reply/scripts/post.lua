-- Checks the fence before a post and maintains the post's ledger: unsent, posting (fate unknown), handle. `posting` and its
-- time are stored before the post is sent. A worker that finds `posting` looks the post up on the platform instead of
-- posting again, and knows when the platform can no longer carry it out.
-- Safe to repeat: a handle is recorded again, and a post that may be sent is recorded as younger.
--
-- Constants  RECORD_LIFE_MS (of a record that has expired meanwhile), PLACE_LIFE_MS (of the posts of a place), STOP_CHANNEL
-- Keys       state   record: of the message   place: its posts: sorted set of `delivery id:part` by the time when one may have left,
--            and of `stray:handle` for unowned messages (claim-stray.lua)
-- Arguments  epoch   part: of the answer, from 0   handle: of the visible message ('' = none to record)
--            answer: sealed and complete, right before its final snapshot: claim.lua gives it to the next worker ('' = not yet)
--            isUnsent: this worker knows that no post of the part is in flight, so a post may be sent now   deliveryId
--            left: handle that the part abandons, since the platform no longer edits it ('' = none): another is posted
--            did: steps of the worker so far, stored with the ledger ('' = unknown)
--            doubtedAgeMs: assumed age of a post whose note may have been lost in a failover
-- Returns    verdict: 'stale' | 'gone' (the handle was claimed as unowned) | 'ok', with known: 'unsent' | 'posting' | handle
--            sinceMs: maximum time since the post was sent   isOwn: this worker recorded that itself
--            left: handles that the part has abandoned, separated by blanks
-- guard: fence/post
if tonumber(redis.call('HGET', keys.state, 'epoch') or '0') ~= tonumber(args.epoch) then return answer { verdict = 'stale' } end
if args.answer ~= '' then redis.call('HSET', keys.state, 'answer', args.answer) end
local field, since, by, handle = 'post:' .. args.part, 'since:' .. args.part, 'by:' .. args.part, args.handle
local leftField = 'left:' .. args.part
local found = redis.call('HMGET', keys.record, field, 'again', since, by, leftField, 'state', 'stopAt', 'conversation', 'owner')
local left = found[5] or ''
local did = args.did == '' and {} or {'did', args.did}

-- A record with a state has a lifetime (accept.lua). One that has expired is written again, and must expire too.
local function note(...)
  redis.call('HSET', keys.record, ...)
  if not found[6] and redis.call('PTTL', keys.record) == -1 then redis.call('PEXPIRE', keys.record, RECORD_LIFE_MS) end
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
  -- A handle may extend the claimed one after a slash.
  for at in string.gmatch(handle .. '/', '()/') do
    if redis.call('ZSCORE', keys.place, 'stray:' .. string.sub(handle, 1, at - 1)) then return answer { verdict = 'gone' } end
  end
  note(field, handle, unpack(did))
  local meantHandles = {}
  for meant in string.gmatch(found[7] or '', '%S+') do table.insert(meantHandles, meant) end
  -- guard: acknowledged-when-stored/stopped-before-stored
  if isMeantPost(handle, meantHandles) then stopMessage(keys.record, found[8], found[9], args.deliveryId) end
  return answer { verdict = 'ok', known = handle, left = left }
end
if found[1] and found[1] ~= 'posting' then return answer { verdict = 'ok', known = found[1], left = left } end

local nowMs = redisNowMs()
-- A failover may have lost the newest ledger entries (accept.lua), so an unrecorded part may have been posted. Such a post
-- was sent before the failover, so little of its settling time remains.
local known = (found[1] or found[2]) and 'posting' or 'unsent'
local leavesNow = args.isUnsent == '1' or known == 'unsent'
local notedMs = not leavesNow and tonumber(found[3] or nil)
local sinceMs = notedMs or known == 'posting' and not leavesNow and not found[1] and nowMs - args.doubtedAgeMs or nowMs
-- guard: noted-before-posted/note
if not notedMs then
  note(field, 'posting', since, sinceMs, by, leavesNow and args.epoch or '', unpack(did))
  redis.call('ZADD', keys.place, nowMs, args.deliveryId .. ':' .. args.part)
  redis.call('ZREMRANGEBYSCORE', keys.place, '-inf', nowMs - PLACE_LIFE_MS)
  redis.call('PEXPIRE', keys.place, PLACE_LIFE_MS)
end
return answer { verdict = 'ok', known = known, sinceMs = nowMs - sinceMs, isOwn = found[4] == args.epoch, left = left }
