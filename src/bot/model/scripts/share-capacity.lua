-- Shares the concurrency of one engine among all workers: a worker reports its calls and gets permits for waiting questions.
-- Additive increase, multiplicative decrease: a refusal sets the limit to the number of calls that the engine was serving, or
-- halves it where it served none; each round of accepted calls raises it by one while questions wait.
-- Nothing is stored before an engine has refused a call. A worker that stops reporting loses its permits after LEASE_MS.
--
-- keys  engine: a hash with the limit, and one field per worker
-- args  process   seq: of the report, which counts once   held: permits   running: calls that the engine accepted
--       top: the most of them at once since the last report   waiting   waitedMs: of the oldest waiting question   passed, refused: calls since the last report
--       pauseMs: the longest wait that a refusal asked for   channel: for workers that wait
-- Answers granted   limit: 0 for none   againInMs: when to report again, 0 for the next lease renewal
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
local grown = tonumber(state.grown or '0')
local top = math.max(running, tonumber(args.top)) + othersRunning
local peak = math.max(tonumber(state.peak or '0'), top)
local isNew = limit == 0
if refused > 0 then
  limit = top > 0 and top or math.max(1, math.floor(limit / 2))
  -- Calls that were sent before the pause began say nothing new.
  if now >= pausedUntil then streak = streak + 1 end
  local doubled = 2 ^ math.min(streak - 1, 10)
  -- An engine with a fixed Retry-After may have a free place long before. A long pause is tested by single calls, each after twice the wait.
  local pauseMs = math.min(tonumber(args.pauseMs), MAX_PAUSE_MS, FIRST_PROBE_MS * doubled)
  -- A free place is told by the end of a call; where none runs, only time can tell.
  if pauseMs == 0 and serving == 0 then pauseMs = math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * doubled) end
  if pauseMs > 0 then pausedUntil = math.max(pausedUntil, now + pauseMs) end
  growAt = math.max(growAt, now + GROW_AFTER * math.max(pauseMs, FIRST_BACKOFF_MS))
  grown = 0
  state.refusedAt = now
elseif passed > 0 then
  streak = 0
  if limit * 2 < peak then
    limit = limit + passed
  elseif now >= growAt and waiting + othersWaiting > 0 then
    grown = grown + passed
    if grown >= limit then limit, grown = limit + 1, 0 end
  end
end
-- What the engine serves, it can serve.
limit = math.max(limit, serving)

-- After a pause the calls come back over RAMP_MS and not at once.
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

redis.call('HSET', keys.engine, 'limit', limit, 'pausedUntil', pausedUntil, 'growAt', growAt, 'streak', streak,
  'grown', grown, 'peak', peak, 'refusedAt', state.refusedAt or now, mine,
  string.format('%d:%d:%d:%d:%d:%s', held, running, waiting, oldest, now + LEASE_MS, args.seq))
redis.call('PEXPIRE', keys.engine, FORGET_MS)
if isNew or (free > granted and othersWaiting > 0) then redis.call('PUBLISH', args.channel, keys.engine .. ' ' .. args.process) end
local againInMs = 0
if waiting > 0 and now < pausedUntil then againInMs = pausedUntil - now
elseif waiting > 0 and isRamping then againInMs = RAMP_STEP_MS end
return answer { granted = granted, limit = limit, againInMs = againInMs }
