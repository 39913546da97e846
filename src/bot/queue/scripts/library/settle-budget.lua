-- Replaces a question's reservation in a budget by its real use. Safe to repeat: a turn that is charged again, also by another
-- worker, only adds what it has used since. A use of nothing gives the reservation back.
--
-- budget: { used, reserved, charged: keys (reserve-budgets.lua), day: DD, questions, tokens, images, lifeMs: of `used`, chargedMs: life of `charged` }
local function settleBudget(budget, turnId)
  local reservation, charged = redis.call('HGET', budget.reserved, turnId), redis.call('GET', budget.charged)
  local day, before = budget.day, { 0, 0, 0 }
  if reservation then
    reservation = readReservation(reservation)
    day = reservation.day
  end
  -- guard: budgets/charged-once
  if charged then day, before[1], before[2], before[3] = string.match(charged, '^(%d+):(%d+):(%d+):(%d+)$') end
  -- guard: budgets/given-back
  if reservation then
    redis.call('HDEL', budget.reserved, turnId)
    local sums = redis.call('HGET', budget.used, SUMS_FIELD)
    if sums then
      sums = readSums(sums)
      addReservation(sums, reservation, -1)
      -- An earlier version that runs at the same time writes reservations without their sums.
      if sums.turns > 0 and sums.turns == redis.call('HLEN', budget.reserved) then writeSums(budget, sums)
      else redis.call('HDEL', budget.used, SUMS_FIELD) end
    end
  end
  local total, isMore = {}, false
  for index, kind in ipairs(KINDS) do
    local more = math.max(0, budget[kind] - tonumber(before[index]))
    total[index] = tonumber(before[index]) + more
    if more > 0 then
      isMore = true
      redis.call('HINCRBY', budget.used, day .. ':' .. kind, string.format('%.0f', more))
      redis.call('HINCRBY', budget.used, kind, string.format('%.0f', more))
    end
  end
  if not isMore then return end
  redis.call('PEXPIRE', budget.used, budget.lifeMs)
  redis.call('SET', budget.charged, string.format('%s:%.0f:%.0f:%.0f', day, unpack(total)), 'PX', budget.chargedMs)
end
