-- Ends the claims of dead or silent workers, and of their quarantine processes, on the turns of a partition, so that other workers can take
-- the turns at once. The epochs stay: late writes are refused once a turn is taken. Safe to repeat: a claim that another worker has taken is
-- left alone, and a conversation named in a lost answer is named again.
--
-- Constants  PART_MARK (before the part of a quarantine process's name that is its own)
-- Keys       pending
-- Arguments  statePrefix: of the states of the partition   touchedWithinMs: a running turn was touched within this time
--            limit: maximum conversations that are checked   unrenewedMs: minimum time since a claim was renewed
--            workers: names, the part of a claim's name before the dot
-- Returns    ids of the conversations
local nowMs, statePrefix = redisNowMs(), args.statePrefix
local function isOfThem(worker)
  for _, name in ipairs(args.workers) do
    if worker == name or (worker and string.sub(worker, 1, #name + 1) == name .. PART_MARK) then return true end
  end
  return false
end

local ended = {}
-- Touches in the future are those before a clock was set back.
for _, id in ipairs(redis.call('ZREVRANGEBYSCORE', keys.pending, '+inf', nowMs - args.touchedWithinMs, 'LIMIT', 0, args.limit)) do
  local state = redis.call('HMGET', statePrefix .. id, 'claim', 'aliveMs')
  local unrenewedMs = nowMs - tonumber(state[2] or nowMs)
  -- guard: quick-takeover/renewed-claim
  local isSilent = unrenewedMs < 0 or unrenewedMs >= tonumber(args.unrenewedMs)
  if state[2] and isSilent and isOfThem(workerOf(state[1])) then
    -- guard: quick-takeover/claim-ends-now
    redis.call('HSET', statePrefix .. id, 'aliveMs', 0)
    ended[#ended + 1] = id
  end
end
return ended
