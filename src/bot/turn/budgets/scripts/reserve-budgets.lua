-- Reserves a question's expected use in all of its budgets, unless one of them is used up: then in none. Safe to repeat: a turn has one
-- reservation in each budget, and none in a budget that it was charged to.
--
-- Constants  RESERVED_MS: a reservation that is never settled is forgotten after this time
-- Keys       first: any key of the first budget; on a cluster, a call contains one budget
-- Arguments  turnId   day: DD   questions   tokens   images   lifeMs: of `used`   warnAt: share of a limit
--            budgets: as JSON: [{ limits: { questionsPerDay?, … },
--              used: hash of one subject and month: DD:KIND, KIND (charged), +DD:KIND, +KIND (added to the limits), w:… (people were warned),
--              reserved: hash of the questions in progress: TURN = 'atMs:DD:questions:tokens:images',
--              charged: exists once this turn was charged }]
-- Returns    usedUp: number of the budget that is used up, 0 = reserved   limit: the limit that is used up
--            isInProgress: only because of questions in progress
--            warnings: NUMBER:LIMIT of each limit of which this question is the first beyond the share
local KINDS = { 'questions', 'tokens', 'images' }
local EXPECTED = { questions = tonumber(args.questions), tokens = tonumber(args.tokens), images = tonumber(args.images) }
local nowMs = redisNowMs()
local function partsOf(name) return string.match(name, '^(%a+)Per(%a+)$') end

-- What is in progress, without this turn. Also returns whether this turn is.
local function inProgress(budget)
  local sums, isReserved = {}, false
  local all = redis.call('HGETALL', budget.reserved)
  for at = 1, #all, 2 do
    local turn, atMs, day, rest = all[at], string.match(all[at + 1], '^(%d+):(%d+):(.*)$')
    -- guard: budgets/forgotten
    if nowMs - tonumber(atMs) > RESERVED_MS then
      redis.call('HDEL', budget.reserved, turn)
    elseif turn == args.turnId then
      isReserved = true
    else
      local index = 0
      for count in string.gmatch(rest, '%d+') do
        index = index + 1
        local kind = KINDS[index]
        sums[kind] = (sums[kind] or 0) + tonumber(count)
        sums[day .. ':' .. kind] = (sums[day .. ':' .. kind] or 0) + tonumber(count)
      end
    end
  end
  return sums, isReserved
end

local budgets, open = cjson.decode(args.budgets), {}
for number, budget in ipairs(budgets) do
  local reserved, isReserved = inProgress(budget)
  -- guard: budgets/reserved-once
  if not isReserved and redis.call('EXISTS', budget.charged) == 0 then
    local counts = {}
    for name, given in pairs(budget.limits) do
      local kind, period = partsOf(name)
      local field, expected = period == 'Day' and args.day .. ':' .. kind or kind, EXPECTED[kind]
      local used, added = unpack(redis.call('HMGET', budget.used, field, '+' .. field))
      local charged, limit = tonumber(used or '0'), given + tonumber(added or '0')
      -- guard: budgets/others-in-progress
      local count = charged + (reserved[field] or 0)
      -- guard: budgets/used-up
      if expected > 0 and count >= limit then
        return answer { usedUp = number, limit = name, isInProgress = charged < limit, warnings = {} }
      end
      counts[name] = { after = count + expected, limit = limit, isUsed = expected > 0, mark = 'w:' .. (period == 'Day' and args.day .. ':' or '') .. name }
    end
    open[number] = counts
  end
end
local warnings = {}
for number, counts in pairs(open) do
  local budget = budgets[number]
  redis.call('HSET', budget.reserved, args.turnId,
    string.format('%.0f:%s:%s:%s:%s', nowMs, args.day, args.questions, args.tokens, args.images))
  redis.call('PEXPIRE', budget.reserved, RESERVED_MS)
  for name, count in pairs(counts) do
    local isNear = count.isUsed and count.after >= count.limit * tonumber(args.warnAt)
    if isNear and redis.call('HSETNX', budget.used, count.mark, '1') == 1 then
      warnings[#warnings + 1] = number .. ':' .. name
      redis.call('PEXPIRE', budget.used, args.lifeMs)
    end
  end
end
return answer { usedUp = 0, limit = '', isInProgress = false, warnings = warnings }
