-- Counts the messages of partitions that wait for an answer, and finds the longest wait. Changes nothing.
--
-- Constants  CLAIM_LIFE_MS (a turn whose claim was not renewed for this long is not running)
-- Keys       pendings: of the partitions; the keys of their conversations have the same hash tags
-- Returns    waiting: messages, without those of running turns and those held for a sign-in   longestMs: how long the oldest waits
--            running: turns with a live claim
local nowMs = redisNowMs()
local waiting, longestMs, running = 0, 0, 0
for _, pending in ipairs(keys.pendings) do
  local tag = string.sub(pending, 1, -#'pending' - 1)
  local statePrefix = tag .. 'state:'
  for _, id in ipairs(redis.call('ZRANGE', pending, 0, -1)) do
    local aliveMs, size = unpack(redis.call('HMGET', statePrefix .. id, 'aliveMs', 'size'))
    local unrenewedMs = nowMs - (tonumber(aliveMs) or 0)
    local isRunning = unrenewedMs >= 0 and unrenewedMs < CLAIM_LIFE_MS
    if isRunning then running = running + 1 end
    local begun = isRunning and tonumber(size) or 0
    local inbox = tag .. 'inbox:' .. id
    local oldest = redis.call('LINDEX', inbox, begun)
    if oldest then
      waiting = waiting + redis.call('LLEN', inbox) - begun
      longestMs = math.max(longestMs, nowMs - (readEntry(oldest).takenMs or nowMs))
    end
  end
end
return answer { waiting = waiting, longestMs = longestMs, running = running }
