-- Takes finished turns out of a conversation's history, or puts others in their places, and has no summary of them stand. A turn that runs
-- by itself may be one that asks a question of the history again: it begins anew, with what stands there now.
-- Safe to repeat: what is not there any more is not looked for elsewhere.
--
-- Constants  STOP_CHANNEL, CLEARED_MARK_MS (life of the mark of a cleared summary)
-- keys  history   summary   state   inbox
-- args  conversationId   mark: what the mark of the summary says   changes: each record as it stands, and what stands in its place; '' = nothing
-- Answers how many were found
local found = 0
for index = 1, #args.changes, 2 do
  local at = redis.call('LPOS', keys.history, args.changes[index])
  if at then
    found = found + 1
    if args.changes[index + 1] == '' then redis.call('LREM', keys.history, 1, args.changes[index])
    else redis.call('LSET', keys.history, at, args.changes[index + 1]) end
  end
end
if found == 0 then return 0 end
redis.call('SET', keys.summary, '-' .. args.mark, 'PX', CLEARED_MARK_MS)
local turn = redis.call('HGET', keys.state, 'turn')
local head = turn and redis.call('LINDEX', keys.inbox, 0)
if head and string.match(head, '^%x+:([^:]+):') == '-' then
  redis.call('HSET', keys.state, 'amended', turn)
  redis.call('PUBLISH', STOP_CHANNEL, args.conversationId .. ':amended')
end
return found
