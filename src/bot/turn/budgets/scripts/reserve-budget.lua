-- Reserves a question's expected use, unless the budget is used up. Safe to repeat: a turn has one reservation, and one that
-- was charged needs none.
--
-- Constants  RESERVED_MS: a reservation that is never charged is forgotten after this time
-- Keys       used: hash of one subject and month: DD:questions, DD:tokens, tokens (all charged); w:… (the person was warned)
--            reserved: hash of the questions in progress: TURN = 'atMs:DD:questions:tokens'
--            charged: exists once this turn was charged
-- Arguments  turnId   day: DD   questions   tokens   questionsPerDay, tokensPerDay, tokensPerMonth: '' for no limit
--            lifeMs: of `used`   warnAt: share of a limit
-- Returns    verdict: 'granted' | 'questionsPerDay' | 'tokensPerDay' | 'tokensPerMonth', the limit that is used up
--            isInProgress: only because of questions in progress
--            warning: '' or the limit of which this question is the first beyond the share
if redis.call('EXISTS', keys.charged) == 1 then return answer { verdict = 'granted', isInProgress = false, warning = '' } end
local nowMs = redisNowMs()
local questionsToday, tokensToday, tokensInMonth =
  unpack(redis.call('HMGET', keys.used, args.day .. ':questions', args.day .. ':tokens', 'tokens'))
local charged = {
  questionsPerDay = tonumber(questionsToday or '0'),
  tokensPerDay = tonumber(tokensToday or '0'),
  tokensPerMonth = tonumber(tokensInMonth or '0'),
}
local counts = { questionsPerDay = charged.questionsPerDay, tokensPerDay = charged.tokensPerDay, tokensPerMonth = charged.tokensPerMonth }
local isReserved = false
local inProgress = redis.call('HGETALL', keys.reserved)
for at = 1, #inProgress, 2 do
  local turn, atMs, day, questions, tokens = inProgress[at], string.match(inProgress[at + 1], '^(%d+):(%d+):(%d+):(%d+)$')
  if nowMs - tonumber(atMs) > RESERVED_MS then
    redis.call('HDEL', keys.reserved, turn)
  else
    if turn == args.turnId then isReserved = true end
    if day == args.day then
      counts.questionsPerDay = counts.questionsPerDay + tonumber(questions)
      counts.tokensPerDay = counts.tokensPerDay + tonumber(tokens)
    end
    counts.tokensPerMonth = counts.tokensPerMonth + tonumber(tokens)
  end
end
if isReserved then return answer { verdict = 'granted', isInProgress = false, warning = '' } end
local LIMITS = { 'questionsPerDay', 'tokensPerDay', 'tokensPerMonth' }
local limits = {
  questionsPerDay = tonumber(args.questionsPerDay),
  tokensPerDay = tonumber(args.tokensPerDay),
  tokensPerMonth = tonumber(args.tokensPerMonth),
}
for _, name in ipairs(LIMITS) do
  local limit = limits[name]
  -- guard: budgets/used-up
  if limit and counts[name] >= limit then return answer { verdict = name, isInProgress = charged[name] < limit, warning = '' } end
end
redis.call('HSET', keys.reserved, args.turnId, string.format('%.0f:%s:%s:%s', nowMs, args.day, args.questions, args.tokens))
redis.call('PEXPIRE', keys.reserved, RESERVED_MS)
local expected = { questionsPerDay = args.questions, tokensPerDay = args.tokens, tokensPerMonth = args.tokens }
local warning = ''
for _, name in ipairs(LIMITS) do
  local limit = limits[name]
  local mark = 'w:' .. (name == 'tokensPerMonth' and '' or args.day .. ':') .. name
  local isNear = limit and counts[name] + tonumber(expected[name]) >= limit * tonumber(args.warnAt)
  if isNear and redis.call('HSETNX', keys.used, mark, '1') == 1 then warning = name end
end
if warning ~= '' then redis.call('PEXPIRE', keys.used, args.lifeMs) end
return answer { verdict = 'granted', isInProgress = false, warning = warning }
