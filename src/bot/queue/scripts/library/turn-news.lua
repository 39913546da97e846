-- Library: news for a running turn. docs/reference/REDIS_KEYS.md lists them; turn-news.ts reads them.
-- Constants  STOP_CHANNEL
-- Provides tellTurn.

-- Stops the owner's messages before a number: (conversation, number, owner); stops one message: (conversation, 0, owner, delivery); restarts
-- the turn, because its question has changed: (conversation, 'amended').
local function tellTurn(...) redis.call('PUBLISH', STOP_CHANNEL, table.concat({...}, ':')) end
