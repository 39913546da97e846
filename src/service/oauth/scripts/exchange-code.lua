-- Takes an authorization code and makes its tokens, in one step: of many exchanges of one code exactly one succeeds.
-- A further exchange of a code that gave tokens revokes them (RFC 6749 section 4.1.2). A try of the right client with a wrong
-- address or verifier uses the code up. A code that was given to another client stays as it is: the caller could never have
-- had anything from it, and an application that catches a code must not be able to break somebody's sign-in elsewhere.
-- Safe to repeat: a code remembers which call used it up, by the access token that only that call has, and a call that is
-- sent again, as after a connection that broke before the answer came, is answered as before and revokes nothing.
-- keys  code   grant   accessToken   refreshToken
-- args  nowMs   codeLifeMs   clientId   redirectUri   challenge: PKCE, made from the verifier ('' without)   grantId
--       accessExpiresAtMs, refreshExpiresAtMs: since epoch   accessKeptMs, refreshKeptMs, grantKeptMs: how long each is kept
-- Answers outcome: 'ok', with the sealed person | 'unknown' | 'client' | 'reused' | 'spent' | 'expired' | 'redirect' | 'verifier'
local code = redis.call('HMGET', keys.code, 'issuedAtMs', 'clientId', 'redirectUri', 'challenge', 'person', 'scope', 'used', 'usedBy')
local function fault()
  if code[3] ~= args.redirectUri then return 'redirect' end
  return code[4] ~= args.challenge and 'verifier'
end
if not code[1] then return answer { outcome = 'unknown' } end
if code[2] ~= args.clientId then return answer { outcome = 'client' } end
if code[8] == keys.accessToken then
  if code[7] == 'given' then return answer { outcome = 'ok', person = code[5] } end
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
-- As long as its tokens may live, a second use must be noticed.
redis.call('PEXPIRE', keys.code, args.grantKeptMs)
redis.call('HSET', keys.grant, 'person', code[5], 'clientId', code[2], 'scope', code[6])
redis.call('PEXPIRE', keys.grant, args.grantKeptMs)
redis.call('HSET', keys.accessToken, 'grant', args.grantId, 'expiresAtMs', args.accessExpiresAtMs)
redis.call('PEXPIRE', keys.accessToken, args.accessKeptMs)
redis.call('HSET', keys.refreshToken, 'grant', args.grantId, 'expiresAtMs', args.refreshExpiresAtMs)
redis.call('PEXPIRE', keys.refreshToken, args.refreshKeptMs)
return answer { outcome = 'ok', person = code[5] }
