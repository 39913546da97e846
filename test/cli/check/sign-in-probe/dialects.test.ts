import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { freePort } from '../../../../src/bot/app/local/embedded-redis.ts';
import { casAnswer, startCasStandIn, type CasStandIn } from '../../../bot/identity/providers/cas-stand-in.ts';
import { startOidcStandIn, type Mischief, type OidcStandIn } from '../../../bot/identity/providers/oidc-stand-in.ts';
import { startStrictProvider, type StrictProvider } from '../../../bot/identity/providers/strict-provider.ts';
import { ProbeBrowser } from './probe-browser.ts';
import { lineIn, startProbe, type RunOptions } from './probe-run.ts';

type Provider = OidcStandIn | StrictProvider | CasStandIn;

/** One complete probe of a provider, with a scripted browser that signs in as 20001. */
async function probe(provider: Provider, { env, ...more }: RunOptions = {}) {
  const isCas = provider.returns === 'ticket';
  const client = isCas ? undefined : provider.clientId;
  const settings = {
    SIGN_IN_TYPE: isCas ? 'cas' : 'oidc',
    SIGN_IN_CLIENT_ID: client,
    SIGN_IN_CLIENT_SECRET: isCas ? undefined : provider.clientSecret,
    ...env,
  };
  const options = { clientSecret: provider.clientSecret, ...more, env: settings };
  const { ended, link, output } = await startProbe(provider.url, options);
  const browser = new ProbeBrowser({ username: '20001', password: 'x' });
  const [exitCode] = await Promise.all([ended, link.then((found) => browser.walk(found))]);
  // No secret and no personal data may be printed or shown (SECURITY.md sign-in-probe).
  for (const text of [output(), ...browser.pages.map(({ body }) => body)])
    for (const secret of [provider.clientSecret || 'none', 'Person 20001', '20001', ...provider.seen.codes])
      expect(text).not.toContain(secret);
  return { text: output(), exitCode, line: (name: string) => lineIn(output(), name) };
}

describe('the probe of an OpenID Connect provider', () => {
  let provider: OidcStandIn;
  beforeEach(async () => {
    provider = await startOidcStandIn();
  });
  afterEach(() => provider.close());

  test('answers each question about a strict third-party provider, with exit 0 [sign-in-probe]', async () => {
    const strict = await startStrictProvider();
    const port = await freePort();
    strict.open(`http://127.0.0.1:${port}`, 'RS256');
    const { line, text, exitCode } = await probe(strict, { port, person: '20001' });
    await strict.close();
    expect(exitCode).toBe(0);
    expect(line('State')).toBe('ok is returned unchanged');
    expect(line('Sign-in')).toMatch(/^ok the code returned tokens, and the id token is valid, in \d+ ms$/);
    expect(line('Profile')).toBe('ok readable and usable, id 2•••1');
    expect(line('Profile parts')).toMatch(/^warning no department, no identity type → .*SIGN_IN_PROFILE_MAP_FILE/);
    expect(line('Same id')).toMatch(/^ok/);
    expect(line('Refresh')).toBe('ok returns new tokens of the same person, and a new refresh token');
    expect(line('Second use of a code')).toMatch(/^ok refused/);
    expect(line('Wrong verifier')).toMatch(/^ok refused/);
    expect(line('After signing out')).toMatch(/^(ok|warning) the refresh token (still works|is invalid)/);
    // Options that exist only for the default protocol are not settings here.
    expect(text).not.toContain('SIGN_IN_STATE=');
    expect(text).not.toContain('SIGN_IN_EXPIRES_UNIT=');
    expect(text).toContain('SIGN_IN_KEEP_TOKENS=');
  });

  test.each<[string, Mischief, Record<string, string>, string, RegExp]>([
    [
      'a secret that is wrong only for the code exchange',
      { answers: { '/token': { status: 401, body: '{"error":"invalid_client"}' } } },
      {},
      'Sign-in',
      /^fault .*invalid_client.* → Correct SIGN_IN_CLIENT_ID and SIGN_IN_CLIENT_SECRET/,
    ],
    [
      'an id token of another issuer',
      { claims: { iss: 'https://id.other' } },
      {},
      'Sign-in',
      /^fault .* → .*SIGN_IN_URL.*issuer.*SIGN_IN_CLIENT_ID/,
    ],
    ['an unsigned id token', { signedBy: 'nobody' }, {}, 'Sign-in', /^fault .* → .*RS256 or ES256/],
    [
      'an unregistered redirect address',
      { answers: { '/oauth2.0/authorize': { status: 400, body: 'unknown redirect_uri' } } },
      {},
      'Sign-in',
      /^fault the browser did not return.* → Register the redirect address http:\/\/127\.0\.0\.1:\d+\/oauth\/callback for the client parley/,
    ],
    [
      'a code flow that the client may not use',
      { sendsBack: 'unauthorized_client' },
      {},
      'Sign-in',
      /^fault .*error \(unauthorized_client\) → .*code flow/,
    ],
    [
      'a missing refresh token',
      { token: { refresh_token: undefined } },
      {},
      'Refresh',
      /^warning no refresh.*offline_access/,
    ],
    ['an inactive account', { userInfo: { active: false } }, {}, 'Profile', /^fault .*not active.* → Sign in with/],
    [
      'an identity that may not sign in',
      {},
      { SIGN_IN_IDENTITY_CODES: 'JG' },
      'Profile',
      /^fault .*identity type.*SIGN_IN_IDENTITY_CODES/,
    ],
    [
      'an id with invalid characters',
      { claims: { sub: 'a b' } },
      {},
      'Profile',
      /^fault .*id.* → .*SIGN_IN_PROFILE_MAP_FILE/,
    ],
  ])('reports %s with the next step', async (_what, mischief, env, name, words) => {
    provider.mischief = mischief;
    const { line } = await probe(provider, { env });
    expect(line(name)).toMatch(words);
  });

  test('reports a provider that accepts any verifier [sign-in-probe]', async () => {
    provider.ignoresPkce = true;
    expect((await probe(provider)).line('Wrong verifier')).toMatch(/^warning accepted.* → .*PKCE/);
  });

  test('reports a provider that becomes unavailable before the sign-in', async () => {
    const { url } = provider;
    await provider.close();
    const { line, exitCode } = await probe({ ...provider, url });
    expect([exitCode, line('Sign-in')]).toEqual([1, expect.stringMatching(/^fault .*reach.* → .*SIGN_IN_URL/)]);
    provider = await startOidcStandIn();
  });
});

describe('the probe of a CAS server', () => {
  let provider: CasStandIn;
  beforeEach(async () => {
    provider = await startCasStandIn();
    provider.hasSessions = true;
  });
  afterEach(() => provider.close());

  test('answers each question about a server that follows the protocol, with exit 0 [sign-in-probe]', async () => {
    const { line, text, exitCode } = await probe(provider);
    expect(exitCode).toBe(0);
    expect(line('State')).toBe('ok is returned unchanged');
    expect(line('Sign-in')).toMatch(/^ok the ticket is valid, in \d+ ms$/);
    expect(line('Profile')).toBe('ok readable and usable, id 2•••1');
    expect(line('Second use of a ticket')).toMatch(/^ok refused/);
    expect(line('Ticket for another address')).toMatch(/^ok refused/);
    expect(line('Refresh')).toBeUndefined();
    expect(text).not.toMatch(/SIGN_IN_(STATE|EXPIRES_UNIT|KEEP_TOKENS)=/);
  });

  test('names the address to register if the server does not serve it', async () => {
    provider.services = /^https:\/\/other/;
    const { line, exitCode } = await probe(provider);
    expect([exitCode, line('Sign-in')]).toEqual([
      1,
      expect.stringMatching(/^fault the browser did not return.* → Register http:\S+\/oauth\/callback as a service/),
    ]);
  });

  test.each([
    ['INVALID_SERVICE', /^fault .*INVALID_SERVICE.* → Register http:\S+\/oauth\/callback as a service/],
    ['UNAUTHORIZED_SERVICE_PROXY', /^fault .*UNAUTHORIZED.* → Register http:\S+\/oauth\/callback as a service/],
    ['INTERNAL_ERROR', /^fault .*INTERNAL_ERROR.* → Contact the operator/],
  ])('reports a ticket refused with %s with the next step', async (code, words) => {
    provider.answer = () => ({ body: casAnswer(`<cas:authenticationFailure code="${code}"/>`) });
    expect((await probe(provider)).line('Sign-in')).toMatch(words);
  });

  test('reports a server that accepts tickets for any address', async () => {
    provider.ignoresService = true;
    expect((await probe(provider)).line('Ticket for another address')).toMatch(/^fault accepted/);
  });
});
