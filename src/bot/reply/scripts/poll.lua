-- Answers a platform's poll. After its live time an unfinished reply is handed over: this poll ends it, the answer is
-- delivered as a follow-up, and the worker is notified.
--
-- A message merged into a newer one points to the newer one only if the platform polls the newer one. The platform may not
-- know that the newer one was accepted (its receiver died, or was too slow at each attempt). Then it never polls the newer
-- one, and the answer is shown in the polled message. Which message shows the answer is decided once (`shownIn`).
--
-- Keys       record: of the message
-- Arguments  person: the poll's sender   handoverAgeMs: age at which a live reply is handed over   deliveryId
--            messagePrefix: of message keys   deliveredWithinMs: age from which an unpolled message counts as never delivered
--            noticeMs: how long before the handover the worker is notified that its answer is shown in another message
--            takesOffers: 'growing' | 'finished' | '': when the answer's buttons are given, with one poll at most
--            looksOnly: answers a repeated delivery; that answer may not arrive, so it decides nothing
-- Returns    isKnown: false if the reply is unknown or another person's, else with
--            content: sealed   finished   handedOver   later: can be answered later   keep: the content, at the handover   state
--            contentId: delivery id of the content   elsewhere: the answer is shown in another message
--            whole: the answer is complete, wherever it is shown   offers: language of its buttons, '' if none are given now
local fields = {'owner', 'content', 'finished', 'handedOver', 'later', 'keep', 'atMs', 'state', 'polled', 'newer', 'shownIn', 'again', 'polledAgain', 'offers', 'offered', 'full'}
local function read(key)
  local record = {key = key}
  for index, value in ipairs(redis.call('HMGET', key, unpack(fields))) do record[fields[index]] = value or nil end
  return record
end
local nowMs, handoverAtMs = redisNowMs(), tonumber(args.handoverAgeMs)
local function ageMs(record) return nowMs - tonumber(record.atMs) end
local function look(record, id, changes)
  local function of(field) return changes[field] or record[field] end
  return answer {
    isKnown = true,
    content = of('content'),
    finished = of('finished'),
    handedOver = of('handedOver'),
    later = of('later'),
    keep = of('keep'),
    state = record.full and 'full' or record.state,
    contentId = id,
    elsewhere = of('elsewhere'),
    whole = not changes.isOpen and of('finished'),
    offers = changes.offers or '',
  }
end

local own = read(keys.record)
if not own.owner or own.owner ~= args.person then return answer { isKnown = false } end
local onlyLooks = args.looksOnly == '1'
-- Reads must work while Redis refuses writes. This poll could not record `polled`, so it must not end the reply; the next
-- poll records it. Otherwise the answer would count as unseen and also be shown under an older message.
local isNoted = own.polled or onlyLooks
if not isNoted then
  local noted = redis.pcall('HSET', own.key, 'polled', '1')
  isNoted = type(noted) == 'number'
end
-- Also recorded after a failover: a reply that is no longer polled was ended before it.
if own.again and not own.polledAgain and not onlyLooks then redis.pcall('HSET', own.key, 'polledAgain', '1') end
if own.shownIn then return look(own, args.deliveryId, {elsewhere = '1', finished = '1'}) end

local shown, shownId = own, args.deliveryId
if own.newer then
  local isPolled, mayArrive, newest = false, false, nil
  for id in string.gmatch(own.newer, '%x+') do
    newest, shownId = read(args.messagePrefix .. id), id
    isPolled = isPolled or newest.polled
    mayArrive = mayArrive or (newest.atMs and ageMs(newest) < tonumber(args.deliveredWithinMs))
  end
  if newest.shownIn and newest.shownIn ~= args.deliveryId then return look(own, args.deliveryId, {elsewhere = '1', finished = '1'}) end
  if not newest.shownIn then
    -- Points to the newer message only once the answer is complete: after a failover the two may be answered separately.
    local grows = newest.atMs and newest.finished ~= '1' and not newest.handedOver and ageMs(own) < handoverAtMs
    if isPolled and grows then return look(own, args.deliveryId, {content = '', finished = '0'}) end
    if isPolled or not newest.atMs then return look(own, args.deliveryId, {finished = '1', isOpen = newest.finished ~= '1'}) end
    if mayArrive or onlyLooks then return look(own, args.deliveryId, {content = '', finished = '0'}) end
    redis.call('HSET', newest.key, 'shownIn', args.deliveryId)
  end
  shown = newest
end

local isOver = ageMs(own) >= handoverAtMs and not onlyLooks
if not onlyLooks and shown.finished ~= '1' and not shown.handedOver then
  -- The worker's deadline follows its own message. The notification leaves it enough time to switch to a follow-up.
  local isNear = shown ~= own and ageMs(own) >= handoverAtMs - tonumber(args.noticeMs)
  if isOver or isNear then redis.call('HSET', shown.key, 'handedOver', '1') end
end
local isHandedOver = isOver or own.handedOver
-- The answer to this poll may not arrive. Buttons are given at most once, since the platform refuses a second card.
local mayOffer = args.takesOffers == 'growing' or (args.takesOffers == 'finished' and shown.finished == '1')
local offers = ''
if mayOffer and shown.offers and not shown.offered and not onlyLooks and isNoted and not isHandedOver then
  local noted = redis.pcall('HSET', shown.key, 'offered', '1')
  if type(noted) == 'number' then offers = shown.offers end
end
return look(shown, shownId, {
  handedOver = isHandedOver and '1' or '0', finished = shown == own and not isNoted and '0' or nil, offers = offers,
})
