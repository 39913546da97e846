import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkSignIn } from '../../../src/cli/check/check-sign-in.ts';
import { casAnswer, startCasStandIn } from '../../bot/identity/providers/cas-stand-in.ts';
import { startOidcStandIn, type Mischief, type OidcStandIn } from '../../bot/identity/providers/oidc-stand-in.ts';
import { startStandIn } from '../../service/sign-in-support.ts';

const PUBLIC = { publicUrl: 'https://bot.test' };

describe('the check of an OpenID Connect provider', () => {
  let provider: OidcStandIn;
  beforeEach(async () => {
    provider = await startOidcStandIn();
  });
  afterEach(() => provider.close());

  const check = (mischief: Mischief = {}, more: { scope?: string; issuer?: string } = {}) => {
    provider.mischief = mischief;
    const { url, clientId, clientSecret } = provider;
    const { issuer = url, ...scope } = more;
    return checkSignIn({ type: 'oidc', authUrl: issuer, clientId, clientSecret, ...scope, ...PUBLIC });
  };
  const DISCOVERY = '/.well-known/openid-configuration';

  test('reports a valid provider in one line, without a sign-in', async () => {
    const nextStep = expect.stringMatching(/https:\/\/bot\.test\/oauth\/callback as a post-logout redirect URI/);
    expect(await check()).toMatchObject([{ verdict: 'ok', nextStep }]);
    expect(provider.seen.authorize[0]?.get('redirect_uri')).toBe('https://bot.test/oauth/callback');
  });

  test.each<[string, Mischief, 'fault' | 'warning' | 'hint', RegExp]>([
    [
      'another issuer name',
      { discovery: { issuer: 'https://id.other' } },
      'fault',
      /its issuer is https:\/\/id\.other.*exactly that issuer/,
    ],
    ['no discovery', { answers: { [DISCOVERY]: { status: 404, body: '' } } }, 'fault', /no OpenID Connect.*issuer/],
    ['HTML', { answers: { [DISCOVERY]: { body: '<html>' } } }, 'fault', /no OpenID Connect/],
    ['no token address', { discovery: { token_endpoint: undefined } }, 'fault', /has no token_endpoint/],
    ['only shared secrets', { discovery: { id_token_signing_alg_values_supported: ['HS256'] } }, 'fault', /RS256/],
    ['no code flow', { discovery: { response_types_supported: ['id_token'] } }, 'fault', /code flow/],
    ['no keys', { answers: { '/jwks': { status: 500, body: '' } } }, 'fault', /jwks_uri/],
    [
      'a refused client',
      { answers: { '/token': { status: 401, body: '{"error":"invalid_client"}' } } },
      'fault',
      /SIGN_IN_CLIENT_SECRET/,
    ],
    [
      'a refused redirect address',
      { answers: { '/oauth2.0/authorize': { status: 400, body: '' } } },
      'warning',
      /Register the redirect address https:\/\/bot\.test\/oauth\/callback/,
    ],
    [
      'a code flow that is not allowed',
      { sendsBack: 'unauthorized_client' },
      'warning',
      /returns browsers with an error.*unauthorized_client.*code flow for SIGN_IN_CLIENT_ID/,
    ],
    ['a scope that is not allowed', { sendsBack: 'invalid_scope' }, 'warning', /invalid_scope.*SIGN_IN_SCOPE/],
    ['no PKCE', { discovery: { code_challenge_methods_supported: ['plain'] } }, 'warning', /PKCE.*S256/],
    ['an unknown scope', { discovery: { scopes_supported: ['openid'] } }, 'warning', /scope profile.*SIGN_IN_SCOPE/],
    [
      'offline access',
      { discovery: { scopes_supported: ['openid', 'profile', 'offline_access'] } },
      'hint',
      /offline_access/,
    ],
    ['no sign-out', { discovery: { end_session_endpoint: undefined } }, 'hint', /sign-out/],
  ])('reports %s with the next step', async (_what, mischief, verdict, words) => {
    const found = (await check(mischief)).filter((line) => line.verdict === verdict);
    expect(found).toHaveLength(1);
    expect(`${found[0]?.detail}. ${found[0]?.nextStep}`).toMatch(words);
  });

  test('reports an unavailable provider', async () => {
    expect(await check({}, { issuer: 'http://127.0.0.1:9' })).toMatchObject([
      { verdict: 'fault', nextStep: expect.stringContaining('SIGN_IN_URL') },
    ]);
  });
});

describe('the check of a CAS server', () => {
  const check = (authUrl: string) => checkSignIn({ type: 'cas', authUrl, clientId: '', ...PUBLIC });

  test('reports a server that validates tickets in one line', async () => {
    const cas = await startCasStandIn();
    expect(await check(cas.url)).toMatchObject([{ verdict: 'ok' }]);
    await cas.close();
  });

  test.each([
    [
      'a refused service address',
      200,
      casAnswer('<cas:authenticationFailure code="INVALID_SERVICE"/>'),
      'fault',
      /Register https:\/\/bot/,
    ],
    [
      'an internal error',
      200,
      casAnswer('<cas:authenticationFailure code="INTERNAL_ERROR"/>'),
      'warning',
      /INTERNAL_ERROR/,
    ],
    ['a missing page', 404, '', 'fault', /base address of the CAS server/],
    ['HTML', 200, '<html></html>', 'fault', /base address of the CAS server/],
  ])('reports %s with the next step', async (_what, status, body, verdict, words) => {
    const server = await startStandIn((_request, response) => response.writeHead(status).end(body));
    const [found] = await check(`${server.url}/cas`);
    expect(found?.verdict).toBe(verdict);
    expect(`${found?.detail}. ${found?.nextStep}`).toMatch(words);
    await server.close();
  });

  test('cannot see a refusal that the server shows only on its login page', async () => {
    const cas = await startCasStandIn();
    cas.services = /^https:\/\/other/;
    expect(await check(cas.url)).toMatchObject([
      { verdict: 'fault', nextStep: expect.stringContaining('Register https://bot.test/oauth/callback') },
    ]);
    await cas.close();
  });

  test('reports an unavailable server', async () => {
    expect((await check('http://127.0.0.1:9/cas'))[0]).toMatchObject({ verdict: 'fault' });
  });
});
