-- Library: what a budget's questions in progress have reserved, as one field of `used`, so that a question costs the same however many are in
-- progress. A field that does not fit `reserved` (an earlier version wrote there, or a reservation was forgotten) is counted again.
--
-- Constants  SUMS_FIELD
-- Provides readReservation, readSums, addReservation, writeSums.
-- budget: { used, reserved: keys (reserve-budgets.lua) }
local KINDS = { 'questions', 'tokens', 'images' }

-- Of a reservation 'atMs:DD:questions:tokens:images'
local function readReservation(stored)
  local atMs, day, questions, tokens, images = string.match(stored, '^(%d+):(%d+):(%d+):(%d+):(%d+)$')
  local read = { atMs = tonumber(atMs), day = day, questions = tonumber(questions), tokens = tonumber(tokens), images = tonumber(images) }
  return read
end

-- turns, oldestMs: nothing is older; day: DD; [KIND] of all days; ['day:' .. KIND] of that day
local function readSums(stored)
  local sums, names = {}, { 'turns', 'oldestMs', 'day', 'questions', 'tokens', 'images', 'day:questions', 'day:tokens', 'day:images' }
  for value in string.gmatch(stored, '%d+') do
    local name = table.remove(names, 1)
    sums[name] = name == 'day' and value or tonumber(value)
  end
  return sums
end

local function addReservation(sums, reservation, sign)
  sums.turns = sums.turns + sign
  for _, kind in ipairs(KINDS) do
    sums[kind] = math.max(0, sums[kind] + sign * reservation[kind])
    if reservation.day == sums.day then sums['day:' .. kind] = math.max(0, sums['day:' .. kind] + sign * reservation[kind]) end
  end
end

local function writeSums(budget, sums)
  redis.call('HSET', budget.used, SUMS_FIELD, string.format('%.0f:%.0f:%s:%.0f:%.0f:%.0f:%.0f:%.0f:%.0f', sums.turns, sums.oldestMs, sums.day,
    sums.questions, sums.tokens, sums.images, sums['day:questions'], sums['day:tokens'], sums['day:images']))
end
