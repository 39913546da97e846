import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { freePort } from '../../../../src/bot/app/local/embedded-redis.ts';
import { startCasStandIn, type CasStandIn } from '../../../bot/identity/providers/cas-stand-in.ts';
import { startStrictProvider, type StrictProvider } from '../../../bot/identity/providers/strict-provider.ts';
import { SERVING } from '../../../bot/config/environments.ts';
import { startParleyProcess, type ParleyProcess } from '../../../support/parley-process.ts';
import { ProbeBrowser } from './probe-browser.ts';
import { lineIn } from './probe-run.ts';

// `npm run check -- --sign-in` as a process, with providers of other protocols than the default one.

const LINK = /http:\/\/\S+\/sign-in\/probe\/[\w-]{43}/;

let oidc: StrictProvider;
let cas: CasStandIn;
let publicUrl: string;
let here: Record<string, string>;
beforeEach(async () => {
  const port = await freePort();
  publicUrl = `http://127.0.0.1:${port}`;
  here = { HOST: '127.0.0.1', PORT: String(port), PUBLIC_URL: publicUrl };
  [oidc, cas] = await Promise.all([startStrictProvider(), startCasStandIn()]);
  oidc.open(publicUrl, 'ES256');
  cas.hasSessions = true;
  cas.services = new RegExp(`^${publicUrl}/oauth/callback\\?`);
});
afterEach(async () => {
  running?.kill('SIGKILL');
  await running?.ended;
  await Promise.all([oidc.close(), cas.close()]);
});

let running: ParleyProcess | undefined;
async function check(settings: Record<string, string>, until?: RegExp): Promise<ParleyProcess> {
  const { SIGN_IN_URL: _url, SIGN_IN_CLIENT_ID: _id, SIGN_IN_CLIENT_SECRET: _secret, ...serving } = SERVING;
  const command = ['node', 'dist/main.js', 'check', '--sign-in'];
  const env = { ...serving, ...here, ...settings };
  running = await startParleyProcess({ env, command, ...(until ? { until } : {}) });
  return running;
}
const withOidc = (more: Record<string, string> = {}) => ({
  SIGN_IN_TYPE: 'oidc',
  SIGN_IN_URL: oidc.url,
  SIGN_IN_CLIENT_ID: oidc.clientId,
  SIGN_IN_CLIENT_SECRET: oidc.clientSecret,
  ...more,
});
const withCas = (more: Record<string, string> = {}) => ({ SIGN_IN_TYPE: 'cas', SIGN_IN_URL: cas.url, ...more });

test('the sign-in probe checks first, then signs in for real [sign-in-probe]', async () => {
  const parley = await check(withOidc(), LINK);
  expect(parley.output()).toContain('is an OpenID Connect provider that accepts our client and redirect address');
  await new ProbeBrowser({ username: '20001', password: 'x' }).walk(LINK.exec(parley.output())?.[0] ?? '');
  expect(await parley.ended).toBe(0);
  for (const name of ['Sign-in', 'Profile', 'Wrong verifier']) expect(lineIn(parley.output(), name)).toMatch(/^ok/);
  for (const secret of [oidc.clientSecret, 'Person 20001', '20001']) expect(parley.output()).not.toContain(secret);
}, 60_000);

describe('faults that the probe reports in one sentence without a sign-in', () => {
  test.each<[string, () => Record<string, string>, RegExp]>([
    [
      'the issuer under another name of its host',
      () => withOidc({ SIGN_IN_URL: oidc.url.replace('127.0.0.1', 'localhost') }),
      /fault .*its issuer is http:\S+, but SIGN_IN_URL is .*Set SIGN_IN_URL to exactly that issuer/,
    ],
    [
      'a wrong client secret',
      () => withOidc({ SIGN_IN_CLIENT_SECRET: 'not-this-one-at-all' }),
      /fault .*refuses our client → Correct SIGN_IN_CLIENT_ID and SIGN_IN_CLIENT_SECRET/,
    ],
    [
      'a service that CAS does not serve',
      () => withCas({ PUBLIC_URL: 'http://localhost:1' }),
      /fault .*refuses our address.* → Register http:\/\/localhost:1\/oauth\/callback as a service/,
    ],
    [
      'an address that is not a CAS server',
      () => withCas({ SIGN_IN_URL: `${cas.url}/x` }),
      /fault .*base address of the CAS server/,
    ],
    [
      'a missing profile map',
      () => withCas({ SIGN_IN_PROFILE_MAP_FILE: '/nonexistent/map.json' }),
      /SIGN_IN_PROFILE_MAP_FILE names \/nonexistent\/map\.json, which cannot be read/,
    ],
  ])('%s', async (_what, settings, sentence) => {
    const parley = await check(settings());
    expect([await parley.ended, parley.output()]).toEqual([1, expect.stringMatching(sentence)]);
    expect(parley.output()).not.toMatch(LINK);
  });
});
