-- Binds an invitation to one browser and stores that browser's transaction. Also called for later authorizations of the flow.
-- Keys       ticket: the invitation   transaction: of the (new) cookie
-- Arguments  nowMs   shownCookieHash: of the cookie that the browser sent   cookieHash: of its cookie from now on
--            transactionText   transactionLifeMs   transactionPrefix, quarantinePrefix: of those keys   maxStarts: per invitation
-- Returns    'started' | 'gone' (unknown, expired, used, or another browser's) | 'too-often'. A repetition only counts as another start.
local ticket = redis.call('HMGET', keys.ticket, 'status', 'expiresAtMs', 'browser', 'startedFrom')
if not ticket[1] or tonumber(ticket[2]) <= tonumber(args.nowMs) then return 'gone' end
local isOwn = ticket[3] == args.shownCookieHash or ticket[4] == args.shownCookieHash or ticket[3] == args.cookieHash
if not (ticket[1] == 'new' or (ticket[1] == 'started' and isOwn)) then return 'gone' end
if redis.call('HINCRBY', keys.ticket, 'starts', 1) > tonumber(args.maxStarts) then return 'too-often' end

-- guard: one-transaction/same-browser
if ticket[3] and ticket[3] ~= args.cookieHash then
  redis.call('DEL', args.transactionPrefix .. ticket[3], args.quarantinePrefix .. ticket[3])
end
redis.call('HSET', keys.ticket, 'status', 'started', 'browser', args.cookieHash)
if args.shownCookieHash ~= args.cookieHash then redis.call('HSET', keys.ticket, 'startedFrom', args.shownCookieHash) end
redis.call('SET', keys.transaction, args.transactionText, 'PX', args.transactionLifeMs)
return 'started'
