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

  test('one that fits is told in one line, and nobody signs in', async () => {
    expect(await check()).toMatchObject([{ verdict: 'ok' }]);
    expect(provider.seen.authorize[0]?.get('redirect_uri')).toBe('https://bot.test/oauth/callback');
  });

  test.each<[string, Mischief, 'fault' | 'warning', RegExp]>([
    [
      'another name',
      { discovery: { issuer: 'https://id.other' } },
      'fault',
      /calls itself https:\/\/id\.other.*letter/,
    ],
    ['no discovery', { answers: { [DISCOVERY]: { status: 404, body: '' } } }, 'fault', /no OpenID Connect.*issuer/],
    ['HTML', { answers: { [DISCOVERY]: { body: '<html>' } } }, 'fault', /no OpenID Connect/],
    ['no token address', { discovery: { token_endpoint: undefined } }, 'fault', /lacks token_endpoint/],
    ['only shared secrets', { discovery: { id_token_signing_alg_values_supported: ['HS256'] } }, 'fault', /RS256/],
    ['no code flow', { discovery: { response_types_supported: ['id_token'] } }, 'fault', /code flow/],
    ['no keys', { answers: { '/jwks': { status: 500, body: '' } } }, 'fault', /jwks_uri/],
    [
      'our client refused',
      { answers: { '/token': { status: 401, body: '{"error":"invalid_client"}' } } },
      'fault',
      /SIGN_IN_CLIENT_SECRET/,
    ],
    [
      'our address refused',
      { answers: { '/oauth2.0/authorize': { status: 400, body: '' } } },
      'warning',
      /Register the redirect address https:\/\/bot\.test\/oauth\/callback/,
    ],
    [
      'the code flow not allowed',
      { sendsBack: 'unauthorized_client' },
      'warning',
      /sends browsers back.*unauthorized_client.*code flow for SIGN_IN_CLIENT_ID/,
    ],
    ['a scope not allowed', { sendsBack: 'invalid_scope' }, 'warning', /invalid_scope.*SIGN_IN_SCOPE/],
    ['no PKCE', { discovery: { code_challenge_methods_supported: ['plain'] } }, 'warning', /PKCE.*S256/],
    ['no such scope', { discovery: { scopes_supported: ['openid'] } }, 'warning', /scope profile.*SIGN_IN_SCOPE/],
    [
      'offline access',
      { discovery: { scopes_supported: ['openid', 'profile', 'offline_access'] } },
      'warning',
      /offline_access/,
    ],
    ['no sign-out', { discovery: { end_session_endpoint: undefined } }, 'warning', /sign-out/],
  ])('%s is named with what to do', async (_what, mischief, verdict, words) => {
    const found = (await check(mischief)).filter((line) => line.verdict === verdict);
    expect(found).toHaveLength(1);
    expect(`${found[0]?.detail}. ${found[0]?.nextStep}`).toMatch(words);
  });

  test('one that is away', async () => {
    expect(await check({}, { issuer: 'http://127.0.0.1:9' })).toMatchObject([
      { verdict: 'fault', nextStep: expect.stringContaining('SIGN_IN_URL') },
    ]);
  });
});

describe('the check of a CAS server', () => {
  const check = (authUrl: string) => checkSignIn({ type: 'cas', authUrl, clientId: '', ...PUBLIC });

  test('one that knows tickets is told in one line', async () => {
    const cas = await startCasStandIn();
    expect(await check(cas.url)).toMatchObject([{ verdict: 'ok' }]);
    await cas.close();
  });

  test.each([
    [
      'our address refused',
      200,
      casAnswer('<cas:authenticationFailure code="INVALID_SERVICE"/>'),
      'fault',
      /Register https:\/\/bot/,
    ],
    [
      'an inner error',
      200,
      casAnswer('<cas:authenticationFailure code="INTERNAL_ERROR"/>'),
      'warning',
      /INTERNAL_ERROR/,
    ],
    ['nothing there', 404, '', 'fault', /base of the CAS server/],
    ['HTML', 200, '<html></html>', 'fault', /base of the CAS server/],
  ])('%s is named with what to do', async (_what, status, body, verdict, words) => {
    const server = await startStandIn((_request, response) => response.writeHead(status).end(body));
    const [found] = await check(`${server.url}/cas`);
    expect(found?.verdict).toBe(verdict);
    expect(`${found?.detail}. ${found?.nextStep}`).toMatch(words);
    await server.close();
  });

  test('one that does not serve our address shows that at its login page only', async () => {
    const cas = await startCasStandIn();
    cas.services = /^https:\/\/other/;
    expect(await check(cas.url)).toMatchObject([
      { verdict: 'fault', nextStep: expect.stringContaining('Register https://bot.test/oauth/callback') },
    ]);
    await cas.close();
  });

  test('one that is away', async () => {
    expect((await check('http://127.0.0.1:9/cas'))[0]).toMatchObject({ verdict: 'fault' });
  });
});
