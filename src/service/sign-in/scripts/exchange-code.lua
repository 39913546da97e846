-- Takes an authorization code and makes its tokens, in one step: of many exchanges of one code exactly one succeeds.
-- A further exchange of a code that gave tokens revokes them (RFC 6749 section 4.1.2). A try of the right client with a wrong
-- address or verifier uses the code up. A code that was given to another client stays as it is: the caller could never have
-- had anything from it, and an application that catches a code must not be able to break somebody's sign-in elsewhere.
-- Safe to repeat: a code remembers which call used it up, by the access token that only that call has, and a call that is
-- sent again, as after a connection that broke before the answer came, is answered as before and revokes nothing.
-- KEYS: 1 code, 2 grant, 3 access token, 4 refresh token
-- ARGV: 1 now (ms), 2 life of a code (ms), 3 client id, 4 redirect uri, 5 PKCE challenge made from the verifier ('' without),
--       6 grant id, 7 access token expiry (ms since epoch), 8 refresh token expiry (ms since epoch),
--       9 time to keep the access token (ms), 10 time to keep the refresh token (ms), 11 time to keep the grant (ms)
-- Output: {'ok', sealed person} or one of {'unknown'}, {'client'}, {'reused'}, {'spent'}, {'expired'}, {'redirect'}, {'verifier'}
local code = redis.call('HMGET', KEYS[1], 'issuedAtMs', 'clientId', 'redirectUri', 'challenge', 'person', 'scope', 'used', 'usedBy')
local function fault()
  if code[3] ~= ARGV[4] then return 'redirect' end
  return code[4] ~= ARGV[5] and 'verifier'
end
if not code[1] then return { 'unknown' } end
if code[2] ~= ARGV[3] then return { 'client' } end
if code[8] == KEYS[3] then
  if code[7] == 'given' then return { 'ok', code[5] } end
  return { fault() }
end
if code[7] == 'given' then
  redis.call('DEL', KEYS[2])
  return { 'reused' }
end
if code[7] then return { 'spent' } end
if tonumber(ARGV[1]) - tonumber(code[1]) >= tonumber(ARGV[2]) then return { 'expired' } end
if fault() then
  redis.call('HSET', KEYS[1], 'used', 'refused', 'usedBy', KEYS[3])
  return { fault() }
end
redis.call('HSET', KEYS[1], 'used', 'given', 'usedBy', KEYS[3])
-- As long as its tokens may live, a second use must be noticed.
redis.call('PEXPIRE', KEYS[1], ARGV[11])
redis.call('HSET', KEYS[2], 'person', code[5], 'clientId', code[2], 'scope', code[6])
redis.call('PEXPIRE', KEYS[2], ARGV[11])
redis.call('HSET', KEYS[3], 'grant', ARGV[6], 'expiresAtMs', ARGV[7])
redis.call('PEXPIRE', KEYS[3], ARGV[9])
redis.call('HSET', KEYS[4], 'grant', ARGV[6], 'expiresAtMs', ARGV[8])
redis.call('PEXPIRE', KEYS[4], ARGV[10])
return { 'ok', code[5] }
