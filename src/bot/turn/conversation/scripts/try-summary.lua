-- Notes that a conversation is about to be summed up: where its summary stands (or is absent, or was cleared) the try is added,
-- and until when there is to be no other. A summary that is written takes the place of it, and so does whatever clears the
-- summary; each further try waits twice as long, whatever became of the one before: refused, empty, broken off, its worker dead.
-- Safe to repeat: the second time it finds its own name.
--
-- What stands there is then `<summary>.<tries>:<until, ms by Redis' clock>:<name>`; a sealed summary opens with it as without.
--
-- Constants  FIRST_WAIT_MS, LONGEST_WAIT_MS, ABSENT_MS (life of the tries where there is no summary to live with)
-- args  startedFrom: what the new summary starts from, as it stands ('' = nothing)   name: of this try
-- Answers verdict: 'begun' | 'stale' (something else stands there by now) | 'waits'   noted: what stands there
local kept = redis.call('GET', keys.summary) or ''
local before, tries, untilMs, name = string.match(kept, '^(.*)%.(%d+):(%d+):(.*)$')
if name == args.name then return answer { verdict = 'begun', noted = kept } end
if kept ~= args.startedFrom then return answer { verdict = 'stale', noted = kept } end
local nowMs = redisNowMs()
if untilMs and nowMs < tonumber(untilMs) then return answer { verdict = 'waits', noted = kept } end

local summary = before or (kept == '' and '-' or kept)
tries = tonumber(tries or 0) + 1
local waitMs = math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ^ (tries - 1))
local noted = summary .. string.format('.%d:%.0f:', tries, nowMs + waitMs) .. args.name
if string.sub(summary, 1, 1) == '-' then redis.call('SET', keys.summary, noted, 'PX', ABSENT_MS)
else redis.call('SET', keys.summary, noted, 'KEEPTTL') end
return answer { verdict = 'begun', noted = noted }
