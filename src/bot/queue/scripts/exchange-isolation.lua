-- Compare-and-set of the shared isolation state, a small document that changes only while workers die.
--
-- Keys       state
-- Arguments  expected: the text that was read; `?` to read only   next   lifeMs
-- Returns    isTaken: whether `next` was stored   current: the stored text now; '' = none   redisNowMs
local current = redis.call('GET', keys.state) or ''
local isTaken = current == args.expected
if isTaken then
  if args.next == '' then redis.call('DEL', keys.state) else redis.call('SET', keys.state, args.next, 'PX', args.lifeMs) end
  current = args.next
end
return answer { isTaken = isTaken, current = current, redisNowMs = redisNowMs() }
