-- Exchanges an authorization code for its tokens, atomically: of any number of exchanges of one code exactly one succeeds.
-- Exchanging a used code again revokes its tokens (RFC 6749 section 4.1.2). An attempt of the right client with a wrong address or
-- verifier uses the code up. An attempt of another client leaves the code unchanged: that client could not have obtained any tokens,
-- and an application that intercepts a code must not be able to break the sign-in elsewhere.
-- Safe to repeat: a code remembers which call used it up, by that call's unique access token. A call that is sent again, for example
-- because the connection broke before the reply, gets the same answer and revokes nothing.
-- Keys       code   grant   accessToken   refreshToken
-- Arguments  nowMs   codeLifeMs   clientId   redirectUri   challenge: PKCE, computed from the verifier ('' without)   grantId
--            accessExpiresAtMs, refreshExpiresAtMs: since epoch   accessKeptMs, refreshKeptMs, grantKeptMs: how long each is kept
-- Returns    outcome: 'ok', with the sealed person, and the granted scope if another one was requested (RFC 6749 section 5.1) | 'unknown' | 'client' | 'reused' | 'spent' | 'expired' | 'redirect' | 'verifier'
local code = redis.call('HMGET', keys.code, 'issuedAtMs', 'clientId', 'redirectUri', 'challenge', 'person', 'scope', 'used', 'usedBy', 'isOtherScope')
local function fault()
  if code[3] ~= args.redirectUri then return 'redirect' end
  return code[4] ~= args.challenge and 'verifier'
end
local function granted() return answer { outcome = 'ok', person = code[5], scope = code[9] and code[6] or '' } end
if not code[1] then return answer { outcome = 'unknown' } end
if code[2] ~= args.clientId then return answer { outcome = 'client' } end
if code[8] == keys.accessToken then
  if code[7] == 'given' then return granted() end
  return answer { outcome = fault() }
end
if code[7] == 'given' then
  redis.call('DEL', keys.grant)
  return answer { outcome = 'reused' }
end
if code[7] then return answer { outcome = 'spent' } end
if tonumber(args.nowMs) - tonumber(code[1]) >= tonumber(args.codeLifeMs) then return answer { outcome = 'expired' } end
if fault() then
  redis.call('HSET', keys.code, 'used', 'refused', 'usedBy', keys.accessToken)
  return answer { outcome = fault() }
end
redis.call('HSET', keys.code, 'used', 'given', 'usedBy', keys.accessToken)
-- A second use must be detected for as long as the tokens may live.
redis.call('PEXPIRE', keys.code, args.grantKeptMs)
redis.call('HSET', keys.grant, 'person', code[5], 'clientId', code[2], 'scope', code[6])
redis.call('PEXPIRE', keys.grant, args.grantKeptMs)
redis.call('HSET', keys.accessToken, 'grant', args.grantId, 'expiresAtMs', args.accessExpiresAtMs)
redis.call('PEXPIRE', keys.accessToken, args.accessKeptMs)
redis.call('HSET', keys.refreshToken, 'grant', args.grantId, 'expiresAtMs', args.refreshExpiresAtMs)
redis.call('PEXPIRE', keys.refreshToken, args.refreshKeptMs)
return granted()
