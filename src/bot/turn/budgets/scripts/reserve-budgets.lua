-- Reserves a question's expected use in all of its budgets, unless one of them is used up: then in none. Safe to repeat: a turn has one
-- reservation in each budget, and none in a budget that it was charged to.
--
-- Constants  RESERVED_MS: a reservation that is never settled is forgotten after this time   SUMS_FIELD (library/budget-sums.lua)
-- Keys       first: any key of the first budget; on a cluster, a call contains one budget
-- Arguments  turnId   day: DD   questions   tokens   images   lifeMs: of `used`   warnAt: share of a limit
--            budgets: as JSON: [{ limits: { questionsPerDay?, … },
--              used: hash of one subject and month: DD:KIND, KIND (charged), +DD:KIND, +KIND (added to the limits), w:… (people were warned),
--                SUMS_FIELD,
--              reserved: hash of the questions in progress: TURN = 'atMs:DD:questions:tokens:images',
--              charged: exists once this turn was charged }]
-- Returns    usedUp: number of the budget that is used up, 0 = reserved   limit: the limit that is used up
--            isInProgress: only because of questions in progress
--            warnings: NUMBER:LIMIT of each limit of which this question is the first beyond the share
local EXPECTED = { questions = tonumber(args.questions), tokens = tonumber(args.tokens), images = tonumber(args.images) }
local nowMs = redisNowMs()

local function countReservations(budget)
  local sums = { turns = 0, oldestMs = nowMs, day = args.day }
  for _, kind in ipairs(KINDS) do sums[kind], sums['day:' .. kind] = 0, 0 end
  local all = redis.call('HGETALL', budget.reserved)
  for at = 1, #all, 2 do
    local reservation = readReservation(all[at + 1])
    -- guard: budgets/forgotten
    if nowMs - reservation.atMs > RESERVED_MS then
      redis.call('HDEL', budget.reserved, all[at])
    else
      addReservation(sums, reservation, 1)
      sums.oldestMs = math.min(sums.oldestMs, reservation.atMs)
    end
  end
  return sums
end

local function sumsOf(budget, stored)
  local sums = stored and readSums(stored)
  -- guard: budgets/counted-again
  local fits = sums and sums.day == args.day and nowMs - sums.oldestMs <= RESERVED_MS and sums.turns == redis.call('HLEN', budget.reserved)
  return fits and sums or countReservations(budget)
end

local budgets, open = cjson.decode(args.budgets), {}
for number, budget in ipairs(budgets) do
  local names, fields = {}, {}
  for name in pairs(budget.limits) do
    local kind, period = string.match(name, '^(%a+)Per(%a+)$')
    local field = period == 'Day' and args.day .. ':' .. kind or kind
    names[#names + 1] = { name = name, kind = kind, sum = period == 'Day' and 'day:' .. kind or kind, day = period == 'Day' and args.day .. ':' or '' }
    fields[#fields + 1], fields[#fields + 2] = field, '+' .. field
  end
  local stored = redis.call('HMGET', budget.used, SUMS_FIELD, unpack(fields))
  local sums = sumsOf(budget, stored[1])
  -- guard: budgets/reserved-once
  if redis.call('HEXISTS', budget.reserved, args.turnId) == 0 and redis.call('EXISTS', budget.charged) == 0 then
    for index, of in ipairs(names) do
      local expected, charged = EXPECTED[of.kind], tonumber(stored[2 * index] or '0')
      local limit = budget.limits[of.name] + tonumber(stored[2 * index + 1] or '0')
      -- guard: budgets/others-in-progress
      local count = charged + sums[of.sum]
      -- guard: budgets/used-up
      if expected > 0 and count >= limit then
        return answer { usedUp = number, limit = of.name, isInProgress = charged < limit, warnings = {} }
      end
      of.isNear = expected > 0 and count + expected >= limit * tonumber(args.warnAt)
    end
    open[number] = { names = names, sums = sums }
  end
end
local warnings = {}
for number, reserving in pairs(open) do
  local budget = budgets[number]
  local reservation = string.format('%.0f:%s:%s:%s:%s', nowMs, args.day, args.questions, args.tokens, args.images)
  redis.call('HSET', budget.reserved, args.turnId, reservation)
  redis.call('PEXPIRE', budget.reserved, RESERVED_MS)
  addReservation(reserving.sums, readReservation(reservation), 1)
  writeSums(budget, reserving.sums)
  redis.call('PEXPIRE', budget.used, args.lifeMs)
  for _, of in ipairs(reserving.names) do
    if of.isNear and redis.call('HSETNX', budget.used, 'w:' .. of.day .. of.name, '1') == 1 then
      warnings[#warnings + 1] = number .. ':' .. of.name
    end
  end
end
return answer { usedUp = 0, limit = '', isInProgress = false, warnings = warnings }
