-- Shares the concurrency of one engine among all workers: a worker reports its calls and gets permits for waiting questions.
-- A refusal sets the limit to the number of calls that the engine was serving, but at most halves it. A rare one, while the engine
-- serves fewer calls than it served before or has served as many as the limit allows, is not caused by their number: only the refused
-- question waits. While questions wait and the engine serves as many calls as the limit allows, the limit rises by 1, 2, 4 … every
-- GROW_EVERY_MS: the length of the answers must not decide how soon a larger engine is used. A refused attempt costs one short call.
-- Nothing is stored before an engine has refused a call. A worker that stops reporting loses its permits after LEASE_MS.
--
-- After a refusal the limit waits twice as long, and twice as long again with each further one, until two rises in a row were served:
-- an engine that was full for a moment is soon used fully again, and one that stays full is rarely asked for more than it serves.
--
-- Constants  RARE_AFTER (accepted calls), MAX_RARE (in a row), GROW_EVERY_MS, MAX_STEP (of the limit)
--            GROW_AFTER, GROW_LATEST_MS (the limit waits at most for this multiple of a refusal's pause, or this time if it is longer)
--            FIRST_BACKOFF_MS, MAX_BACKOFF_MS (pause after a refusal while no call runs), FIRST_PROBE_MS, MAX_PAUSE_MS
--            RAMP_MS, RAMP_STEP_MS (calls resume gradually after a pause), LEASE_MS, FORGET_MS (of an engine without refusals)
-- Keys       engine: a hash with the limit, and one field per worker
-- Arguments  process   seq: report number, counted once   held: permits   running: calls accepted by the engine
--            top: maximum concurrent calls since the last report   waiting   waitedMs: of the oldest waiting question   passed, refused: calls since the last report
--            pauseMs: longest wait requested by a refusal   channel: for waiting workers
-- Returns    granted   limit: 0 for none   againInMs: time until the next report, 0 for the next lease renewal
local now = redisNowMs()
local state = {}
local flat = redis.call('HGETALL', keys.engine)
for i = 1, #flat, 2 do state[flat[i]] = flat[i + 1] end
local limit = tonumber(state.limit or '0')
local held, running, waiting = tonumber(args.held), tonumber(args.running), tonumber(args.waiting)
local passed, refused = tonumber(args.passed), tonumber(args.refused)
if limit == 0 and refused == 0 then return answer { granted = waiting, limit = 0, againInMs = 0 } end

local mine = 'p:' .. args.process
local oldest = now - tonumber(args.waitedMs)
if state[mine] and string.match(state[mine], '(%d+)$') == args.seq then passed, refused = 0, 0 end
local othersHeld, othersRunning, othersWaiting, ahead = 0, 0, 0, 0
for name, value in pairs(state) do
  if string.sub(name, 1, 2) == 'p:' and name ~= mine then
    local h, r, w, o, untilMs = string.match(value, '^(%d+):(%d+):(%d+):(%d+):(%d+)')
    if tonumber(untilMs) <= now then
      redis.call('HDEL', keys.engine, name)
    else
      othersHeld, othersRunning, othersWaiting = othersHeld + h, othersRunning + r, othersWaiting + w
      if tonumber(o) < oldest then ahead = ahead + w end
    end
  end
end

local serving = running + othersRunning
local pausedUntil = tonumber(state.pausedUntil or '0')
local growAt = tonumber(state.growAt or '0')
local streak = tonumber(state.streak or '0')
local step = tonumber(state.step or '1')
local growWait, rises = tonumber(state.growWait or '0'), tonumber(state.rises or '0')
-- The calls of other workers may have been fewer at that moment; the next refusal corrects what is too high.
local top = math.max(running, tonumber(args.top)) + othersRunning
local isNew = limit == 0
-- The most calls that the engine served since the limit was last lowered.
local served = tonumber(state.served or '0')
local accepted = math.min(tonumber(state.accepted or '0') + passed, MAX_RARE * RARE_AFTER)
local isRare = refused == 1 and not isNew and (top < served or served >= limit) and accepted >= RARE_AFTER
-- Refusals in a row, without an accepted call between them.
if passed > 0 then streak = 0 end
if refused > 0 then state.refusedAt = now end
if isRare then
  accepted = accepted - RARE_AFTER
elseif refused > 0 then
  local wasRaised = rises > 0
  local lastRise = math.max(1, step / 2)
  accepted, served, step, rises = 0, 0, 1, 0
  -- Few calls may have been running by chance: a known limit is halved at most.
  limit = math.max(top, math.floor(limit / 2), 1)
  -- Refusals of calls that were sent before the pause began add no information.
  if now >= pausedUntil then streak = streak + 1 end
  local doubled = 2 ^ math.min(streak - 1, 10)
  -- An engine with a fixed Retry-After may have a free place much earlier. A long pause is probed by single calls, with a
  -- wait that doubles each time.
  local pauseMs = math.min(tonumber(args.pauseMs), MAX_PAUSE_MS, FIRST_PROBE_MS * doubled)
  -- The end of a call signals a free place. If no call is running, only time can tell.
  if pauseMs == 0 and serving == 0 then pauseMs = math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * doubled) end
  -- After a rise, the engine refused what it was asked for beyond its calls, to one worker or to several: only the refused
  -- questions wait.
  local isRise = serving > 0 and wasRaised and refused <= lastRise
  local isProbe = isRise or serving > 0 and now - tonumber(state.probedAt or '0') < GROW_EVERY_MS
  if isRise then state.probedAt = now end
  if pauseMs > 0 and not isProbe then pausedUntil = math.max(pausedUntil, now + pauseMs) end
  -- Refusals of the same moment count once.
  if wasRaised or now >= growAt or growWait == 0 then
    growWait = math.min(math.max(2 * growWait, 2 * GROW_EVERY_MS), math.max(GROW_AFTER * pauseMs, GROW_LATEST_MS))
  end
  growAt = math.max(growAt, pausedUntil, now + growWait)
end
served = math.max(served, top)
-- The limit is never below the number of calls that the engine is serving.
limit = math.max(limit, serving)
local mayGrow = refused == 0 and waiting + othersWaiting > 0 and top >= limit
if mayGrow and now >= growAt then
  limit, step, growAt = limit + step, math.min(step * 2, MAX_STEP), now + GROW_EVERY_MS
  rises = rises + 1
  if rises > 2 then growWait = 0 end
end

-- After a pause, calls resume gradually over RAMP_MS.
local allowed = limit
local isRamping = now < pausedUntil + RAMP_MS and pausedUntil > 0
if isRamping then allowed = math.max(1, math.floor(limit * (now - pausedUntil) / RAMP_MS)) end
local free = now < pausedUntil and 0 or math.max(0, allowed - held - othersHeld)
local granted = math.max(0, math.min(waiting, free - ahead))
held, waiting = held + granted, waiting - granted
if waiting + othersWaiting == 0 and now - tonumber(state.refusedAt or now) > FORGET_MS then
  redis.call('DEL', keys.engine)
  return answer { granted = granted, limit = 0, againInMs = 0 }
end

redis.call('HSET', keys.engine, 'limit', limit, 'served', served, 'pausedUntil', pausedUntil, 'growAt', growAt,
  'streak', streak, 'step', step, 'accepted', accepted, 'growWait', growWait, 'rises', rises,
  'refusedAt', state.refusedAt or now, 'probedAt', state.probedAt or 0,
  mine, string.format('%d:%d:%d:%d:%d:%s', held, running, waiting, oldest, now + LEASE_MS, args.seq))
redis.call('PEXPIRE', keys.engine, FORGET_MS)
if isNew or (free > granted and othersWaiting > 0) then redis.call('PUBLISH', args.channel, keys.engine .. ' ' .. args.process) end
local againInMs = 0
if waiting > 0 and now < pausedUntil then againInMs = pausedUntil - now
elseif waiting > 0 and isRamping then againInMs = RAMP_STEP_MS
elseif waiting > 0 and mayGrow then againInMs = math.max(growAt - now, RAMP_STEP_MS) end
return answer { granted = granted, limit = limit, againInMs = againInMs }
