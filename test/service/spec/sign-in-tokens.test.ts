import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { got, type Method } from 'got';
import { parseClientsFile } from '../../../src/service/clients-file.ts';
import { CALLBACK, CLIENT, exchange, getProfile, obtainCode, startTestService } from '../support.ts';
import { useTestService } from '../use-test-service.ts';

const { server, service } = useTestService();

const FORM_TYPE = 'application/x-www-form-urlencoded';

/** Fields of a valid exchange; undefined removes one. */
function exchangeForm(code: string, changes: Record<string, string | undefined> = {}): URLSearchParams {
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: 'parley',
    client_secret: 'the-secret',
    redirect_uri: CALLBACK,
    code,
  });
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) form.delete(name);
    else form.set(name, value);
  }
  return form;
}

async function send(
  body: string | undefined,
  options: { method?: Method; query?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; error: unknown; headers: Record<string, unknown> }> {
  const { method = 'POST', query = '', headers = {} } = options;
  const answer = await got(`${service.url}/oauth2.0/accessToken${query}`, {
    method,
    ...(body === undefined ? {} : { body }),
    headers: { 'content-type': FORM_TYPE, ...headers },
    throwHttpErrors: false,
    retry: { limit: 0 },
  });
  const told = answer.body === '' ? undefined : (JSON.parse(answer.body) as { error?: unknown }).error;
  return { status: answer.statusCode, error: told, headers: answer.headers };
}

function basic(id: string, secret: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

const CREDENTIALS = { client_id: 'parley', client_secret: 'the-secret' };

const lastRefreshToken = async () => String((await exchange(service, await obtainCode(service))).body.refresh_token);

function refresh(refreshToken: string, changes: Record<string, string> = {}) {
  return exchange(service, '', { grant_type: 'refresh_token', refresh_token: refreshToken, ...changes });
}

describe('token response (code exchange) [profile]', () => {
  test.each([
    ['access_token', 'string', 'yes', expect.stringMatching(/^[\w-]{43}$/)],
    ['token_type', 'string', 'yes', 'bearer'],
    ['expires_in', 'number', 'yes', 7_200],
    ['refresh_token', 'string', 'no', expect.stringMatching(/^[\w-]{43}$/)],
  ])('%s (%s, required: %s) [profile]', async (field, type, _, expected) => {
    const { body } = await exchange(service, await obtainCode(service));
    expect(typeof body[field]).toBe(type);
    expect(body[field]).toEqual(expected);
  });

  test('exactly these four fields [profile]', async () => {
    const { body } = await exchange(service, await obtainCode(service));
    expect(Object.keys(body).sort()).toEqual(['access_token', 'expires_in', 'refresh_token', 'token_type']);
  });

  test.each([
    ['SVC-Basic openid', 'SVC-Basic'],
    ['SVC-Basic', undefined],
    [' ', undefined],
  ])('names the granted scope if another one was requested: %j [token]', async (scope, named) => {
    const { body } = await exchange(service, await obtainCode(service, { scope }));
    expect(body.scope).toBe(named);
  });
});

describe('revocation (RFC 7009) [revocation]', () => {
  const revoke = async (form: Record<string, string>, headers: Record<string, string> = {}) => {
    const sent = { method: 'POST', headers, body: new URLSearchParams(form) };
    const answer = await fetch(`${service.url}/oauth2.0/revoke`, sent);
    return [answer.status, ((await answer.json()) as { error?: string }).error];
  };
  const tokens = async () => {
    const { body } = await exchange(service, await obtainCode(service));
    return { access: String(body.access_token), refresh: String(body.refresh_token) };
  };
  const isValid = async (access: string) => (await getProfile(service, access)).status === 200;

  test('of a refresh token ends it and all access tokens of its sign-in, and no other [revocation]', async () => {
    const [mine, other] = [await tokens(), await tokens()];
    const fresh = String((await refresh(mine.refresh)).body.access_token);
    expect(await revoke({ ...CREDENTIALS, token: mine.refresh, token_type_hint: 'access_token' })).toEqual([
      200,
      undefined,
    ]);
    expect((await refresh(mine.refresh)).body.error).toBe('invalid_grant');
    expect([await isValid(mine.access), await isValid(fresh), await isValid(other.access)]).toEqual([
      false,
      false,
      true,
    ]);
    expect((await refresh(other.refresh)).status).toBe(200);
  });

  test('of an access token ends this one only, with the client in the header too [revocation]', async () => {
    const { access, refresh: refreshToken } = await tokens();
    expect(await revoke({ token: access }, basic('parley', 'the-secret'))).toEqual([200, undefined]);
    expect(await isValid(access)).toBe(false);
    expect((await refresh(refreshToken)).status).toBe(200);
  });

  test.each([
    ['an unknown token', { token: 'x' }, 200, undefined],
    ['no token', {}, 400, 'invalid_request'],
    ['a wrong secret', { token: 'x', client_secret: 'wrong' }, 401, 'invalid_client'],
  ])('of %s: %j is %d %s [revocation]', async (_, changes, status, error) => {
    expect(await revoke({ ...CREDENTIALS, ...changes })).toEqual([status, error]);
  });

  test('of a token of another client is refused, and the token stays valid [revocation]', async () => {
    const { access, refresh: refreshToken } = await tokens();
    const other = { client_id: 'other', client_secret: 'other-secret' };
    for (const token of [access, refreshToken])
      expect(await revoke({ ...other, token })).toEqual([400, 'invalid_grant']);
    expect(await isValid(access)).toBe(true);
  });
});

test('the metadata (RFC 8414) lead a client from the issuer to a token and its revocation [metadata]', async () => {
  const answer = await fetch(`${service.url}/.well-known/oauth-authorization-server`);
  const metadata = (await answer.json()) as Record<string, string>;
  expect(metadata).toMatchObject({ issuer: service.url, response_types_supported: ['code'] });
  const code = await obtainCode(service);
  const exchanged = await fetch(String(metadata['token_endpoint']), { method: 'POST', body: exchangeForm(code) });
  const { access_token: token } = (await exchanged.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${token}` };
  const profile = () => fetch(String(metadata['userinfo_endpoint']), { headers });
  expect((await profile()).status).toBe(200);
  await fetch(String(metadata['revocation_endpoint']), {
    method: 'POST',
    body: new URLSearchParams({ ...CREDENTIALS, token }),
  });
  expect((await profile()).status).toBe(401);
  const authorize = await fetch(String(metadata['authorization_endpoint']), { redirect: 'manual' });
  expect(authorize.status).toBe(400);
});

describe('token response (refresh) [profile]', () => {
  test.each([
    ['token_type', 'string', 'bearer'],
    ['access_token', 'string', expect.stringMatching(/^[\w-]{43}$/)],
    ['expires_in', 'number', 7_200],
    ['scope', 'string', 'SVC-Basic'],
  ])('%s (%s) [profile]', async (field, type, expected) => {
    const { body } = await refresh(await lastRefreshToken());
    expect(typeof body[field]).toBe(type);
    expect(body[field]).toEqual(expected);
  });

  test('"no new refresh_token is listed": four fields, and the refresh token can be used again [profile]', async () => {
    const token = await lastRefreshToken();
    for (let round = 0; round < 3; round += 1)
      expect(Object.keys((await refresh(token)).body).sort()).toEqual([
        'access_token',
        'expires_in',
        'scope',
        'token_type',
      ]);
  });
});

describe('code exchange [token]', () => {
  test.each(['grant_type', 'redirect_uri', 'code'])(
    '%s "required": missing or empty is invalid_request, and the code stays valid [token]',
    async (name) => {
      const code = await obtainCode(service);
      for (const value of [undefined, '']) {
        const answer = await send(exchangeForm(code, { [name]: value }).toString());
        expect([answer.status, answer.error]).toEqual([400, 'invalid_request']);
      }
      expect((await exchange(service, code)).status).toBe(200);
    },
  );

  test.each([
    ['client_id', undefined],
    ['client_id', 'nobody'],
    ['client_secret', undefined],
    ['client_secret', ''],
    ['client_secret', 'wrong'],
    ['client_secret', 'other-secret'],
  ])('%s "required": %j is 401 invalid_client, and the code stays valid [token]', async (name, value) => {
    const code = await obtainCode(service);
    const answer = await send(exchangeForm(code, { [name]: value }).toString());
    expect([answer.status, answer.error]).toEqual([401, 'invalid_client']);
    expect(answer.headers['www-authenticate']).toBe('Basic realm="sign-in", charset="UTF-8"');
    expect((await exchange(service, code)).status).toBe(200);
  });

  test.each(['password', 'client_credentials', 'Authorization_Code', 'authorization_code '])(
    'grant_type "fixed authorization_code": %j is unsupported_grant_type [token]',
    async (grantType) => {
      const answer = await exchange(service, await obtainCode(service), { grant_type: grantType });
      expect([answer.status, answer.body.error]).toEqual([400, 'unsupported_grant_type']);
    },
  );

  test.each(['http://127.0.0.1:9/with?x=1', `${CALLBACK}/`, 'https://evil.example/'])(
    'redirect_uri "application callback address": a different one (%s) is invalid_grant [token]',
    async (redirectUri) => {
      const answer = await exchange(service, await obtainCode(service), { redirect_uri: redirectUri });
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_grant']);
    },
  );

  test.each(['made-up', ' ', 'x'.repeat(4_096)])(
    'code "the authorization code": a different one (%#) is invalid_grant [token]',
    async (code) => {
      expect((await exchange(service, code)).body.error).toBe('invalid_grant');
    },
  );

  test('"response: token response, JSON", with no-store (RFC 6749 5.1) [token]', async () => {
    const answer = await exchange(service, await obtainCode(service));
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect([answer.headers['cache-control'], answer.headers['pragma']]).toEqual(['no-store', 'no-cache']);
  });

  test.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x', ''])(
    'header "Content-Type: application/x-www-form-urlencoded": %j is invalid_request [token]',
    async (type) => {
      const form = exchangeForm(await obtainCode(service)).toString();
      const answer = await send(form, { headers: { 'content-type': type } });
      expect([answer.status, answer.error]).toEqual([400, 'invalid_request']);
    },
  );

  test('header: a charset after the type is accepted [token]', async () => {
    const form = exchangeForm(await obtainCode(service)).toString();
    expect((await send(form, { headers: { 'content-type': `${FORM_TYPE}; charset=UTF-8` } })).status).toBe(200);
  });

  test.each(['GET', 'HEAD', 'PUT', 'DELETE'] as const)('"POST": %s is 405 and names POST [token]', async (method) => {
    const answer = await send(undefined, { method });
    expect([answer.status, answer.headers['allow'], answer.headers['cache-control']]).toEqual([
      405,
      'POST',
      'no-store',
    ]);
  });
});

describe('token requests under RFC 6749 and RFC 7636', () => {
  test.each(['client_secret', 'code', 'client_id', 'refresh_token'])(
    'RFC 6749 2.3.1: %s in the address is refused, and the code stays valid',
    async (name) => {
      const code = await obtainCode(service);
      const form = exchangeForm(code);
      const query = `?${name}=${form.get(name) ?? 'x'}`;
      for (const body of [form.toString(), (form.delete(name), form.toString())]) {
        const answer = await send(body, { query });
        expect([answer.status, answer.error]).toEqual([400, 'invalid_request']);
      }
      expect((await exchange(service, code)).status).toBe(200);
    },
  );

  test.each(['grant_type', 'client_id', 'client_secret', 'redirect_uri', 'code', 'code_verifier'])(
    'RFC 6749 3.2: a repeated, nested or overlong %s is refused, and the code stays valid',
    async (name) => {
      const code = await obtainCode(service);
      const form = exchangeForm(code).toString();
      for (const more of [`&${name}=x&${name}=x`, `&${name}[]=x`, `&${name}[a]=x`, `&${name}=${'x'.repeat(4_097)}`]) {
        const answer = await send(form + more);
        expect([more.slice(0, 30), answer.status, answer.error]).toEqual([more.slice(0, 30), 400, 'invalid_request']);
      }
      expect((await exchange(service, code)).status).toBe(200);
    },
  );

  test('RFC 6749 3.2: a field without a value counts as missing', async () => {
    const changes = { code_verifier: '', refresh_token: '' };
    expect((await exchange(service, await obtainCode(service), changes)).status).toBe(200);
  });

  test('RFC 6749 3.2: an unknown field is ignored', async () => {
    expect((await exchange(service, await obtainCode(service), { audience: 'x' })).status).toBe(200);
  });

  test('a body above 64 KiB is refused', async () => {
    const answer = await send(`${exchangeForm('x').toString()}&more=${'x'.repeat(70_000)}`);
    expect([answer.status, answer.error]).toEqual([400, 'invalid_request']);
  });

  test.each([
    ['unchanged', 'parley', undefined],
    ['with client_id in the form too', 'parley', 'parley'],
    ['with form-encoded parts', '%70arley', undefined],
  ])('RFC 6749 2.3.1: HTTP Basic is accepted, %s', async (_, id, clientId) => {
    const form = exchangeForm(await obtainCode(service), { client_id: clientId, client_secret: undefined });
    expect((await send(form.toString(), { headers: basic(id, 'the-secret') })).status).toBe(200);
  });

  test.each([
    ['unchanged', 'a+b/c%41=:'],
    ['form-encoded', 'a%2Bb%2Fc%2541%3D%3A'],
    ['form-encoded, with more characters than needed', '%61%2Bb%2Fc%2541%3D%3A'],
  ])('RFC 6749 2.3.1: a secret of special characters is accepted by HTTP Basic, %s', async (_, sent) => {
    const clients = [{ ...CLIENT, client_secret: 'a+b/c%41=:' }];
    const special = await startTestService(server.redis, { clients: parseClientsFile(JSON.stringify(clients)) });
    const form = exchangeForm(await obtainCode(special), { client_id: undefined, client_secret: undefined });
    const ask = async (secret: string) =>
      (
        await got.post(`${special.url}/oauth2.0/accessToken`, {
          body: form.toString(),
          headers: { 'content-type': FORM_TYPE, ...basic('parley', secret) },
          throwHttpErrors: false,
        })
      ).statusCode;
    expect(await ask('a b/cA=:')).toBe(401);
    expect(await ask(sent)).toBe(200);
    await special.close();
  });

  test.each([
    ['a wrong secret', basic('parley', 'wrong')],
    ['an unknown client', basic('nobody', 'the-secret')],
    ['no colon', { authorization: `Basic ${Buffer.from('parley').toString('base64')}` }],
    ['broken encoding', basic('%E0%A4%A', 'the-secret')],
    ['nothing', { authorization: 'Basic' }],
  ])('RFC 6749 5.2: HTTP Basic with %s is 401 with a Basic challenge, and the code stays valid', async (_, headers) => {
    const code = await obtainCode(service);
    const form = exchangeForm(code, { client_id: undefined, client_secret: undefined });
    const answer = await send(form.toString(), { headers });
    expect([answer.status, answer.error]).toEqual([401, 'invalid_client']);
    expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/);
    expect((await exchange(service, code)).status).toBe(200);
  });

  test.each([{ client_secret: 'the-secret' }, { client_id: 'other', client_secret: undefined }])(
    'RFC 6749 2.3: HTTP Basic together with %j in the form is two methods, invalid_request',
    async (changes) => {
      const form = exchangeForm(await obtainCode(service), changes);
      const answer = await send(form.toString(), { headers: basic('parley', 'the-secret') });
      expect([answer.status, answer.error]).toEqual([400, 'invalid_request']);
    },
  );

  test('RFC 7636 4.6: only the right verifier is accepted; a wrong, missing or unrequested one is not', async () => {
    const verifier = 'v'.repeat(50);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const asked = { code_challenge: challenge, code_challenge_method: 'S256' };
    const tryWith = async (parameters: Record<string, string>, changes: Record<string, string>) =>
      (await exchange(service, await obtainCode(service, parameters), changes)).body.error;
    expect(await tryWith(asked, { code_verifier: verifier })).toBeUndefined();
    expect(await tryWith(asked, { code_verifier: `${verifier}x` })).toBe('invalid_grant');
    expect(await tryWith(asked, { code_verifier: challenge })).toBe('invalid_grant');
    expect(await tryWith(asked, {})).toBe('invalid_grant');
    expect(await tryWith({}, { code_verifier: verifier })).toBe('invalid_grant');
  });
});

describe('refresh token [refresh]', () => {
  test('grant_type "must be refresh_token" [refresh]', async () => {
    const token = await lastRefreshToken();
    expect((await refresh(token, { grant_type: 'refresh' })).body.error).toBe('unsupported_grant_type');
    expect((await refresh(token)).status).toBe(200);
  });

  test.each([
    ['client_id "assigned client id"', { client_id: 'nobody' }, 401, 'invalid_client'],
    ['client_secret "assigned client secret"', { client_secret: 'wrong' }, 401, 'invalid_client'],
    ['client_id: another client', { client_id: 'other', client_secret: 'other-secret' }, 400, 'invalid_grant'],
    ['refresh_token "the refresh token from the code exchange": none', { refresh_token: '' }, 400, 'invalid_request'],
    ['refresh_token "the refresh token from the code exchange"', { refresh_token: 'made-up' }, 400, 'invalid_grant'],
  ])('%s is refused, and the token stays valid [refresh]', async (_, changes, status, error) => {
    const token = await lastRefreshToken();
    const answer = await refresh(token, changes);
    expect([answer.status, answer.body.error]).toEqual([status, error]);
    expect((await refresh(token)).status).toBe(200);
  });

  test('refresh_token: an access token or a code is not accepted [refresh]', async () => {
    const code = await obtainCode(service);
    expect((await refresh(code)).body.error).toBe('invalid_grant');
    const { body } = await exchange(service, code);
    expect((await refresh(String(body.access_token))).body.error).toBe('invalid_grant');
  });

  test('"refresh uses grant type refresh_token with client credentials", in the header too [sign-in]', async () => {
    const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: await lastRefreshToken() });
    expect((await send(form.toString())).status).toBe(401);
    expect((await send(form.toString(), { headers: basic('parley', 'the-secret') })).status).toBe(200);
  });

  test('"response: refresh token response, JSON": the new access token works, and the earlier one stays valid [refresh]', async () => {
    const first = (await exchange(service, await obtainCode(service))).body;
    const second = (await refresh(String(first.refresh_token))).body;
    expect(second.access_token).not.toBe(first.access_token);
    for (const { access_token: token } of [first, second]) expect((await getProfile(service, token)).status).toBe(200);
  });
});

describe('the lifetimes of tokens', () => {
  test.each([
    [7_200_000 - 1, 200],
    [7_200_000, 401],
  ])('SERVICE_ACCESS_TOKEN_SEC: after %d ms the profile answers %d', async (ageMs, status) => {
    const { body } = await exchange(service, await obtainCode(service));
    service.clock.ms += ageMs;
    expect((await getProfile(service, body.access_token)).status).toBe(status);
  });

  test.each([
    [30 * 86_400_000 - 1, 200],
    [30 * 86_400_000, 400],
  ])('SERVICE_REFRESH_TOKEN_SEC: after %d ms a refresh answers %d', async (ageMs, status) => {
    const token = await lastRefreshToken();
    service.clock.ms += ageMs;
    expect((await refresh(token)).status).toBe(status);
  });

  test("an access token issued at the end of a refresh token's life lives for its whole expires_in, and Redis keeps it that long", async () => {
    const token = await lastRefreshToken();
    service.clock.ms += 30 * 86_400_000 - 1;
    const { body } = await refresh(token);
    service.clock.ms += 7_200_000 - 1;
    expect((await getProfile(service, body.access_token)).status).toBe(200);
    const keys = await server.redis.keys('{service}:grant:*');
    const lives = await Promise.all(keys.map((key) => server.redis.pttl(key)));
    expect(Math.max(...lives)).toBeGreaterThan(30 * 86_400_000 + 7_200_000);
  });
});

describe('errors of the token endpoint as in RFC 6749 section 5.2 [errors]', () => {
  test.each([
    ['invalid_client', 401, { client_secret: 'wrong' }],
    ['invalid_grant', 400, { code: 'made-up' }],
    ['invalid_request', 400, { code: '' }],
    ['unsupported_grant_type', 400, { grant_type: 'password' }],
  ])('%s is {"error","error_description"} with %d and no-store', async (error, status, changes) => {
    const answer = await exchange(service, 'some-code', changes);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({
      error,
      error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
    });
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect([answer.headers['cache-control'], answer.headers['pragma']]).toEqual(['no-store', 'no-cache']);
  });
});
