-- Replaces a question's reservation by its real use. Safe to repeat: a turn that is charged again, also by another worker,
-- only adds what it has used since.
--
-- Keys       used   reserved   charged: 'DD:questions:tokens' of this turn (reserve-budget.lua)
-- Arguments  turnId   day: DD   questions   tokens   lifeMs: of `used`   chargedMs: life of `charged`
-- Returns    1 if something was charged, else 0
local reservation, charged = redis.call('HGET', keys.reserved, args.turnId), redis.call('GET', keys.charged)
local day, questions, tokens = args.day, 0, 0
if reservation then day = string.match(reservation, '^%d+:(%d+):') end
-- guard: budgets/charged-once
if charged then day, questions, tokens = string.match(charged, '^(%d+):(%d+):(%d+)$') end
redis.call('HDEL', keys.reserved, args.turnId)
local moreQuestions = math.max(0, tonumber(args.questions) - tonumber(questions))
local moreTokens = math.max(0, tonumber(args.tokens) - tonumber(tokens))
if moreQuestions + moreTokens == 0 then return 0 end
redis.call('HINCRBY', keys.used, day .. ':questions', moreQuestions)
redis.call('HINCRBY', keys.used, day .. ':tokens', moreTokens)
redis.call('HINCRBY', keys.used, 'tokens', moreTokens)
redis.call('PEXPIRE', keys.used, args.lifeMs)
local both = string.format('%s:%.0f:%.0f', day, tonumber(questions) + moreQuestions, tonumber(tokens) + moreTokens)
redis.call('SET', keys.charged, both, 'PX', args.chargedMs)
return 1
