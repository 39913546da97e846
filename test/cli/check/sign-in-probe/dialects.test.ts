import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { freePort } from '../../../../src/bot/app/local/embedded-redis.ts';
import { casAnswer, startCasStandIn, type CasStandIn } from '../../../bot/identity/providers/cas-stand-in.ts';
import { startOidcStandIn, type Mischief, type OidcStandIn } from '../../../bot/identity/providers/oidc-stand-in.ts';
import { startStrictProvider, type StrictProvider } from '../../../bot/identity/providers/strict-provider.ts';
import { ProbeBrowser } from './probe-browser.ts';
import { lineIn, startProbe, type RunOptions } from './probe-run.ts';

type Provider = OidcStandIn | StrictProvider | CasStandIn;

/** One whole probe of a provider, with a scripted browser that signs in as 20001. */
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
  // Nothing secret and nothing of the person is printed or shown (SECURITY.md sign-in-probe).
  for (const text of [output(), ...browser.pages.map(({ body }) => body)])
    for (const secret of [provider.clientSecret || 'none', 'Person 20001', '20001', ...provider.seen.codes])
      expect(text).not.toContain(secret);
  return { text: output(), exitCode, line: (name: string) => lineIn(output(), name) };
}

describe('an OpenID Connect provider', () => {
  let provider: OidcStandIn;
  beforeEach(async () => {
    provider = await startOidcStandIn();
  });
  afterEach(() => provider.close());

  test('one that others wrote, strict: each question is answered, exit 0 [sign-in-probe]', async () => {
    const strict = await startStrictProvider();
    const port = await freePort();
    strict.open(`http://127.0.0.1:${port}`, 'RS256');
    const { line, text, exitCode } = await probe(strict, { port, person: '20001' });
    await strict.close();
    expect(exitCode).toBe(0);
    expect(line('State')).toBe('ok comes back as it was sent');
    expect(line('Sign-in')).toMatch(/^ok the code gave tokens, and the id token is right, in \d+ ms$/);
    expect(line('Profile')).toBe('ok readable and usable, id 2•••1');
    expect(line('Profile parts')).toMatch(/^warning no department, no kind of person → .*SIGN_IN_PROFILE_MAP_FILE/);
    expect(line('Same id')).toMatch(/^ok/);
    expect(line('Refresh')).toBe('ok gives new tokens of the same person, and a new refresh token');
    expect(line('Second use of a code')).toMatch(/^ok refused/);
    expect(line('Wrong verifier')).toMatch(/^ok refused/);
    expect(line('After signing out')).toMatch(/^(ok|warning) the refresh token (still works|is dead)/);
    // What only the specification's own service leaves open is no setting here.
    expect(text).not.toContain('SIGN_IN_STATE=');
    expect(text).not.toContain('SIGN_IN_EXPIRES_UNIT=');
    expect(text).toContain('SIGN_IN_KEEP_TOKENS=');
  });

  test.each<[string, Mischief, Record<string, string>, string, RegExp]>([
    [
      'a wrong secret that shows at the code only',
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
    ['an id token that nobody signed', { signedBy: 'nobody' }, {}, 'Sign-in', /^fault .* → .*RS256 or ES256/],
    [
      'a redirect address that is not registered',
      { answers: { '/oauth2.0/authorize': { status: 400, body: 'unknown redirect_uri' } } },
      {},
      'Sign-in',
      /^fault the browser did not come back.* → Register the redirect address http:\/\/127\.0\.0\.1:\d+\/oauth\/callback for the client parley/,
    ],
    [
      'a code flow that the client may not use',
      { sendsBack: 'unauthorized_client' },
      {},
      'Sign-in',
      /^fault .*error \(unauthorized_client\) → .*code flow/,
    ],
    ['no refresh token', { token: { refresh_token: undefined } }, {}, 'Refresh', /^warning no refresh.*offline_access/],
    ['an account that left', { userInfo: { active: false } }, {}, 'Profile', /^fault .*not active.* → Sign in with/],
    [
      'a kind of person that may not sign in',
      {},
      { SIGN_IN_IDENTITY_CODES: 'JG' },
      'Profile',
      /^fault .*identity type.*SIGN_IN_IDENTITY_CODES/,
    ],
    [
      'an id of strange letters',
      { claims: { sub: 'a b' } },
      {},
      'Profile',
      /^fault .*id.* → .*SIGN_IN_PROFILE_MAP_FILE/,
    ],
  ])('%s is named with what to do', async (_what, mischief, env, name, words) => {
    provider.mischief = mischief;
    const { line } = await probe(provider, { env });
    expect(line(name)).toMatch(words);
  });

  test('a provider that takes any verifier is told of [sign-in-probe]', async () => {
    provider.ignoresPkce = true;
    expect((await probe(provider)).line('Wrong verifier')).toMatch(/^warning accepted.* → .*PKCE/);
  });

  test('a provider that goes away before the sign-in is named', async () => {
    const { url } = provider;
    await provider.close();
    const { line, exitCode } = await probe({ ...provider, url });
    expect([exitCode, line('Sign-in')]).toEqual([1, expect.stringMatching(/^fault .*reach.* → .*SIGN_IN_URL/)]);
    provider = await startOidcStandIn();
  });
});

describe('a CAS server', () => {
  let provider: CasStandIn;
  beforeEach(async () => {
    provider = await startCasStandIn();
    provider.hasSessions = true;
  });
  afterEach(() => provider.close());

  test('one that keeps to the protocol: each question is answered, exit 0 [sign-in-probe]', async () => {
    const { line, text, exitCode } = await probe(provider);
    expect(exitCode).toBe(0);
    expect(line('State')).toBe('ok comes back as it was sent');
    expect(line('Sign-in')).toMatch(/^ok the ticket was right, in \d+ ms$/);
    expect(line('Profile')).toBe('ok readable and usable, id 2•••1');
    expect(line('Second use of a ticket')).toMatch(/^ok refused/);
    expect(line('Ticket for another address')).toMatch(/^ok refused/);
    expect(line('Refresh')).toBeUndefined();
    expect(text).not.toMatch(/SIGN_IN_(STATE|EXPIRES_UNIT|KEEP_TOKENS)=/);
  });

  test('a server that does not serve our address: what to register is told', async () => {
    provider.services = /^https:\/\/other/;
    const { line, exitCode } = await probe(provider);
    expect([exitCode, line('Sign-in')]).toEqual([
      1,
      expect.stringMatching(
        /^fault the browser did not come back.* → Register http:\S+\/oauth\/callback there as a service/,
      ),
    ]);
  });

  test.each([
    ['INVALID_SERVICE', /^fault .*INVALID_SERVICE.* → Register http:\S+\/oauth\/callback there as a service/],
    ['UNAUTHORIZED_SERVICE_PROXY', /^fault .*UNAUTHORIZED.* → Register http:\S+\/oauth\/callback there as a service/],
    ['INTERNAL_ERROR', /^fault .*INTERNAL_ERROR.* → Ask who runs/],
  ])('a ticket that is refused with %s is named with what to do', async (code, words) => {
    provider.answer = () => ({ body: casAnswer(`<cas:authenticationFailure code="${code}"/>`) });
    expect((await probe(provider)).line('Sign-in')).toMatch(words);
  });

  test('a server that takes tickets for any address is told of', async () => {
    provider.ignoresService = true;
    expect((await probe(provider)).line('Ticket for another address')).toMatch(/^fault accepted/);
  });
});
