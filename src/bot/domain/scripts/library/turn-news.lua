-- Library: news for a running turn. docs/reference/REDIS_KEYS.md lists them; turn-news.ts reads them.
-- Constants  STOP_CHANNEL
-- Provides tellTurn, isMeantPost, stopMessage.

-- Stops the owner's messages before a number: (conversation, number, owner); stops one message: (conversation, 0, owner, delivery); restarts
-- the turn, because its question has changed: (conversation, 'amended').
local function tellTurn(...) redis.call('PUBLISH', STOP_CHANNEL, table.concat({...}, ':')) end

-- A recorded handle may extend the pressed one after a slash.
local function isMeantPost(handle, meantHandles)
  for _, meant in ipairs(meantHandles) do
    if handle == meant or string.sub(handle, 1, #meant + 1) == meant .. '/' then return true end
  end
  return false
end

local function stopMessage(record, conversationId, owner, delivery)
  redis.call('HSET', record, 'stopped', '1')
  tellTurn(conversationId, 0, owner, delivery)
end
