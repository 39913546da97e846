-- Stores one person's rating of one answer, once per rating even if it is delivered repeatedly. Replaces their earlier
-- rating.
--
-- Constants  MAX_RATERS (of one answer)
-- Keys       record: of the answered message   feedback: hash of this answer   rated: of the partition   ratedBy: of this person
-- Arguments  answer: the message's id   platform   rater: pseudonym   verdict: 'good' | 'bad' | 'withdrawn'
--            reasons: separated by blanks; '' keeps those given with the same verdict   words: sealed; '' keeps likewise
--            said: digest of the words, to recognise equal words   lifeMs
-- The hash has the answer's platform, model, rule and conversation, its number of raters, and for each rater verdict:, reasons:, words:,
-- said: and at: followed by the rater's pseudonym.
-- Returns    change: 'new' | 'changed' (another verdict) | 'detailed' (same verdict, more detail) | 'withdrawn' | 'same' | 'full'
local nowMs, by = redisNowMs(), ':' .. args.rater
local before = redis.call('HMGET', keys.feedback, 'verdict' .. by, 'reasons' .. by, 'words' .. by, 'said' .. by)
if args.verdict == 'withdrawn' then
  if not before[1] then return answer { change = 'same' } end
  redis.call('HDEL', keys.feedback, 'verdict' .. by, 'reasons' .. by, 'words' .. by, 'said' .. by, 'at' .. by)
  redis.call('ZREM', keys.ratedBy, args.answer)
  redis.call('HINCRBY', keys.feedback, 'raters', -1)
  if redis.call('HGET', keys.feedback, 'raters') == '0' then
    redis.call('DEL', keys.feedback)
    redis.call('ZREM', keys.rated, args.answer)
  end
  return answer { change = 'withdrawn' }
end
local isSame = before[1] == args.verdict
local reasons = args.reasons == '' and isSame and before[2] or args.reasons
local keepsWords = args.said == '' and isSame and before[3]
local words, said = keepsWords and before[3] or args.words, keepsWords and before[4] or args.said
if isSame and reasons == before[2] and said == before[4] then return answer { change = 'same' } end
if not before[1] then
  if tonumber(redis.call('HGET', keys.feedback, 'raters') or '0') >= MAX_RATERS then return answer { change = 'full' } end
  redis.call('HINCRBY', keys.feedback, 'raters', 1)
end
local facts = redis.call('HMGET', keys.record, 'answeredBy', 'rule', 'conversation')
redis.call('HSET', keys.feedback, 'platform', args.platform)
-- The answer's record expires after a day; the values stored with the first rating are kept.
if facts[1] then redis.call('HSET', keys.feedback, 'model', facts[1]) end
if facts[2] then redis.call('HSET', keys.feedback, 'rule', facts[2]) end
if facts[3] then redis.call('HSET', keys.feedback, 'conversation', facts[3]) end
redis.call('HSET', keys.feedback, 'verdict' .. by, args.verdict, 'reasons' .. by, reasons, 'words' .. by, words, 'said' .. by, said, 'at' .. by, nowMs)
redis.call('PEXPIRE', keys.feedback, args.lifeMs)
for _, list in ipairs({ keys.rated, keys.ratedBy }) do
  redis.call('ZADD', list, nowMs, args.answer)
  redis.call('ZREMRANGEBYSCORE', list, '-inf', nowMs - tonumber(args.lifeMs))
  redis.call('PEXPIRE', list, args.lifeMs)
end
return answer { change = isSame and 'detailed' or before[1] and 'changed' or 'new' }
