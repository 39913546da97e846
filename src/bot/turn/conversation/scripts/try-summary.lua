-- Records an attempt to summarize a conversation: appends the attempt, and the time until which no other may begin, to the
-- stored summary (or to its place if it is absent or cleared). Writing or clearing the summary replaces this record. Each
-- further attempt waits twice as long, whatever the previous result: refused, empty, broken off or a dead worker.
-- Safe to repeat: the second time the script finds its own name.
--
-- The stored value is then `<summary>.<tries>:<until, ms by Redis' clock>:<name>`; an encrypted summary can be decrypted with
-- or without this suffix.
--
-- Constants  FIRST_WAIT_MS, MAX_WAIT_MS, ABSENT_MS (life of the attempts if there is no summary)
-- Keys       summary
-- Arguments  startedFrom: the stored value that the new summary starts from ('' = none)   name: of this attempt
-- Returns    verdict: 'begun' | 'stale' (the stored value has changed) | 'waits'   noted: the stored value
local kept = redis.call('GET', keys.summary) or ''
local before, tries, untilMs, name = string.match(kept, '^(.*)%.(%d+):(%d+):(.*)$')
-- guard: repeatable-scripts/begun-summary
if name == args.name then return answer { verdict = 'begun', noted = kept } end
if kept ~= args.startedFrom then return answer { verdict = 'stale', noted = kept } end
local nowMs = redisNowMs()
if untilMs and nowMs < tonumber(untilMs) then return answer { verdict = 'waits', noted = kept } end

local summary = before or (kept == '' and '-' or kept)
tries = tonumber(tries or 0) + 1
local waitMs = math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ^ (tries - 1))
local noted = summary .. string.format('.%d:%.0f:', tries, nowMs + waitMs) .. args.name
if string.sub(summary, 1, 1) == '-' then redis.call('SET', keys.summary, noted, 'PX', ABSENT_MS)
else redis.call('SET', keys.summary, noted, 'KEEPTTL') end
return answer { verdict = 'begun', noted = noted }
