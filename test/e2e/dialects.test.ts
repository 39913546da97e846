import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { DAY_MS, MINUTE_MS } from '../../src/shared/clock.ts';
import { startCasStandIn, type CasStandIn } from '../bot/identity/providers/cas-stand-in.ts';
import { startStrictProvider, type StrictProvider } from '../bot/identity/providers/strict-provider.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

// The complete bot with providers of other protocols than the default one.

let deployment: Deployment;
const driver = () => deployment.messenger.driver;
const ask = async (person: string, text: string) => {
  const message = await driver().send(person, text);
  return (await driver().waitForAnswer(message.id, { timeoutMs: 15_000 })).text.trim();
};
/** Asks while unlinked, and signs in through the link that comes as the answer. */
async function askAndSignIn(person: string, question: string) {
  const message = await driver().send(person, question);
  await untilTrue(async () => (await driver().answer(message.id))?.text.includes('/link/') ?? false);
  const page = await deployment.signIn(person, (await driver().answer(message.id))?.text ?? '');
  const answer = async () => (await driver().waitForAnswer(message.id, { timeoutMs: 15_000 })).text.trim();
  return { page, answer };
}
/** Follows the sign-out link in the answer to /unlink to its end. */
async function unlinkAndSignOut(person: string) {
  const said = await ask(person, '/unlink');
  return deployment.walk(person, /\]\((http[^)]*)\)/.exec(said)?.[1] ?? said);
}

/** Captures the timers that run every minute. @returns a function that runs them now */
function holdMinutes(): () => void {
  const spy = jest.spyOn(globalThis, 'setInterval');
  return () => {
    for (const [run, everyMs] of spy.mock.calls) if (everyMs === MINUTE_MS) run();
  };
}

async function startWith(url: string, env: Record<string, string>): Promise<Deployment> {
  const started = await startDeployment({
    startsBot: false,
    messenger: { serviceUrl: new URL(url).origin },
    env: { SIGN_IN_URL: url, ...env },
  });
  // CAS has no client registration.
  if (env['SIGN_IN_TYPE'] === 'cas') {
    delete started.env['SIGN_IN_CLIENT_ID'];
    delete started.env['SIGN_IN_CLIENT_SECRET'];
  }
  return started;
}

/** Signs in by the typed code: the page shows a code, and the person sends it in the chat. */
async function walkByTypedCode(person: string) {
  await deployment.stopBot();
  await deployment.startBot({ SIGN_IN_PROOF: 'typed-code' });
  await untilTrue(() => driver().isBotReachable());
  const { page, answer } = await askAndSignIn(person, 'count to 4');
  const code = /class="symbols">([0-9A-Z]{4}-[0-9A-Z]{4})</.exec(page)?.[1] ?? 'none';
  expect(await ask(person, '/whoami')).toContain('You are not signed in');
  expect(await ask(person, code)).toContain(`Signed in as Person ${person}`);
  expect(await answer()).toBe('1 2 3 4');
  expect(await ask(person, '/whoami')).toContain(`Person ${person}`);
}

describe('SIGN_IN_TYPE=oidc with a strict third-party provider', () => {
  let provider: StrictProvider;
  let passAMinute: () => void;
  beforeAll(async () => {
    provider = await startStrictProvider();
    const settings = { SIGN_IN_TYPE: 'oidc', SIGN_IN_CLIENT_ID: provider.clientId };
    const secret = { SIGN_IN_CLIENT_SECRET: provider.clientSecret };
    deployment = await startWith(provider.url, { ...settings, ...secret });
    provider.open(deployment.botUrl, 'RS256');
    passAMinute = holdMinutes();
    await deployment.startBot();
    await untilTrue(() => driver().isBotReachable());
  }, 60_000);
  afterAll(async () => {
    jest.restoreAllMocks();
    await deployment.stop();
    await provider.close();
  });

  test('supports question, link, sign-in, answer, daily check, unlinking and provider sign-out [sign-in-in-steps] [daily-check] [unlink-ends-all]', async () => {
    const { page, answer } = await askAndSignIn('zhangwei', 'count to 3');
    expect(page).toContain('You are signed in as Person zhangwei');
    expect(await answer()).toBe('1 2 3');
    expect(await ask('zhangwei', '/whoami')).toContain('Person zhangwei');

    provider.claims = { name: 'Zhang Wei the Second' };
    deployment.advance(DAY_MS);
    passAMinute();
    await untilTrue(async () => (await ask('zhangwei', '/whoami')).includes('Zhang Wei the Second'));
    expect(await ask('zhangwei', 'count to 2')).toBe('1 2');

    const out = await unlinkAndSignOut('zhangwei');
    expect([out.url.origin, out.text.includes('You are back from')]).toEqual([deployment.botUrl, true]);
    expect(await ask('zhangwei', '/whoami')).toContain('You are not signed in');
    expect(driver().violations()).toEqual([]);
  }, 60_000);

  test('supports sign-in by typed code [typed-code]', async () => {
    provider.claims = {};
    await walkByTypedCode('emma.clarke');
  }, 60_000);
});

describe('SIGN_IN_TYPE=cas with a CAS server', () => {
  let provider: CasStandIn;
  let passAMinute: () => void;
  beforeAll(async () => {
    provider = await startCasStandIn();
    provider.hasSessions = true;
    deployment = await startWith(provider.url, { SIGN_IN_TYPE: 'cas' });
    provider.services = new RegExp(`^${deployment.botUrl}/oauth/callback(\\?.*)?$`);
    passAMinute = holdMinutes();
    await deployment.startBot();
    await untilTrue(() => driver().isBotReachable());
  }, 60_000);
  afterAll(async () => {
    jest.restoreAllMocks();
    await deployment.stop();
    await provider.close();
  });

  test('supports question, link, sign-in, answer, the next day, unlinking and provider sign-out [sign-in-in-steps] [unlink-ends-all]', async () => {
    const { page, answer } = await askAndSignIn('zhangwei', 'count to 3');
    expect(page).toContain('You are signed in as Person zhangwei');
    expect(await answer()).toBe('1 2 3');
    expect(await ask('zhangwei', '/whoami')).toContain('Person zhangwei');

    // CAS cannot check an account outside a sign-in, so the daily check sends no request.
    const asked = provider.seen.codes.length;
    deployment.advance(DAY_MS);
    passAMinute();
    expect(await ask('zhangwei', 'count to 2')).toBe('1 2');
    expect(provider.seen.codes).toHaveLength(asked);

    const out = await unlinkAndSignOut('zhangwei');
    expect([out.url.href, out.text.includes('You are signed out')]).toEqual([
      `${deployment.botUrl}/oauth/callback`,
      true,
    ]);
    expect(await ask('zhangwei', '/whoami')).toContain('You are not signed in');
    expect(driver().violations()).toEqual([]);
  }, 60_000);

  test('supports sign-in by typed code [typed-code]', () => walkByTypedCode('emma.clarke'), 60_000);
});
