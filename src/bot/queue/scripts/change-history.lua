-- Removes or replaces finished turns in a conversation's history, and clears the summary of them. A running turn that is never merged may repeat a
-- question from the history: it restarts with the new history.
-- Safe to repeat: a record that is no longer there is skipped.
--
-- Constants  STOP_CHANNEL, CLEARED_MARK_MS (life of the mark of a cleared summary)
-- Keys       history   summary   state   inbox
-- Arguments  conversationId   mark: content of the cleared summary's mark   changes: each stored record and its replacement; '' = remove
-- Returns    how many records were found
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
if head and readEntry(head).mergeKey == '-' then
  redis.call('HSET', keys.state, 'amended', turn)
  tellTurn(args.conversationId, 'amended')
end
return found
