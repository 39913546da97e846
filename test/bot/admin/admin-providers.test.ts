import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HOUR_MS } from '../../../src/shared/clock.ts';
import { leaveAdmin, refreshOf } from '../../support/admin-sign-in.ts';
import { startDeployment, untilTrue, type Deployment } from '../../support/deployment.ts';
import { casAnswer, startCasStandIn, type CasStandIn } from '../identity/providers/cas-stand-in.ts';
import { startOidcStandIn, type Mischief, type OidcStandIn } from '../identity/providers/oidc-stand-in.ts';
import { TestBrowser } from '../identity/test-browser.ts';
import { visibleParts } from './visible-parts.ts';

/** Who gets in: a listed account only. `failed`: the provider's answer names no account. */
type Outcome = 'admin' | 'stranger' | 'failed';

const LISTED = '20080117';
const LONG = 'a'.repeat(128);
const folder = mkdtempSync(join(tmpdir(), 'parley-admin-providers-'));
const mapFile = join(folder, 'profile-map.json');

let deployment: Deployment;
let oidc: OidcStandIn;
let cas: CasStandIn;
const at = (path = '') => `${deployment.botUrl}/admin${path}`;

beforeAll(async () => {
  writeFileSync(mapFile, JSON.stringify({ id: ['email'] }));
  [deployment, oidc, cas] = await Promise.all([
    startDeployment({ startsBot: false, env: { ROLES: 'receiver' } }),
    startOidcStandIn(),
    startCasStandIn(),
  ]);
}, 60_000);
afterAll(async () => {
  await deployment.stop();
  await Promise.all([oidc.close(), cas.close()]);
  rmSync(folder, { recursive: true });
}, 60_000);

const settingsOf = {
  oidc: () => ({
    SIGN_IN_TYPE: 'oidc',
    SIGN_IN_URL: oidc.url,
    SIGN_IN_CLIENT_ID: oidc.clientId,
    SIGN_IN_CLIENT_SECRET: oidc.clientSecret,
  }),
  cas: () => ({ SIGN_IN_TYPE: 'cas', SIGN_IN_URL: cas.url, SIGN_IN_CLIENT_ID: '', SIGN_IN_CLIENT_SECRET: '' }),
};
const seen = async (browser: TestBrowser, path = '') => (await browser.get(at(path))).status;

async function restart(protocol: keyof typeof settingsOf, more: Record<string, string>): Promise<void> {
  await deployment.stopBot();
  await deployment.startBot({ ...settingsOf[protocol](), ...more });
  // Until Redis is connected, a page with a session says that it is unavailable.
  const knocking = new TestBrowser();
  knocking.cookies.set(`${deployment.botUrl} __Secure-admin`, 'A'.repeat(43));
  await untilTrue(async () => (await knocking.get(at())).status === 403);
}

/** Signs in at the provider. @returns the browser and the page of the callback */
async function signIn(account: string) {
  const browser = new TestBrowser({ account });
  const left = await leaveAdmin(browser, await browser.get(at()));
  return { browser, returned: await browser.follow(await browser.get(left)) };
}

const casUser = (user: string) =>
  casAnswer(`<cas:authenticationSuccess>${user}<cas:attributes/></cas:authenticationSuccess>`);

interface Row {
  account?: string;
  mischief?: Mischief;
  /** The user element of CAS. */
  user?: string;
  outcome: Outcome;
}

const OIDC: Record<string, Row> = {
  'a listed subject': { outcome: 'admin' },
  'a subject that is not listed': { account: '20110042', outcome: 'stranger' },
  'a listed subject of several parts': { account: 'auth0|65f1b2', outcome: 'admin' },
  'a listed subject of 128 characters': { account: LONG, outcome: 'admin' },
  'a longer subject': { account: `${LONG}a`, outcome: 'stranger' },
  'a listed subject in another case': { account: 'zhang.wei', outcome: 'stranger' },
  'a listed subject of a closed account': { mischief: { userInfo: { active: false } }, outcome: 'stranger' },
  'a listed id in a claim that is not the subject': {
    account: '20110042',
    mischief: { claims: { email: LISTED, preferred_username: LISTED }, userInfo: { id: LISTED } },
    outcome: 'stranger',
  },
  'a list as the subject': { mischief: { claims: { sub: [LISTED] } }, outcome: 'failed' },
  'no subject': { mischief: { claims: { sub: undefined } }, outcome: 'failed' },
  'a number as the subject': { mischief: { claims: { sub: Number(LISTED) } }, outcome: 'failed' },
  'another subject in the user answer': {
    account: '20110042',
    mischief: { userInfo: { sub: LISTED } },
    outcome: 'failed',
  },
};
const BY_EMAIL: Record<string, Row> = {
  'a listed address': { mischief: { userInfo: { email: 'wei@example.edu' } }, outcome: 'admin' },
  'a listed address in a list': { mischief: { userInfo: { email: ['wei@example.edu'] } }, outcome: 'admin' },
  'an address that is not listed': { mischief: { userInfo: { email: 'li@example.edu' } }, outcome: 'stranger' },
  'a listed address in another case': { mischief: { userInfo: { email: 'Wei@Example.edu' } }, outcome: 'stranger' },
  'a listed address after another one': {
    mischief: { userInfo: { email: ['li@example.edu', 'wei@example.edu'] } },
    outcome: 'stranger',
  },
  'no address': { outcome: 'stranger' },
  'an empty address': { mischief: { userInfo: { email: ' ' } }, outcome: 'stranger' },
  'an object as the address': { mischief: { userInfo: { email: { value: 'wei@example.edu' } } }, outcome: 'stranger' },
  'a look-alike of a listed address': {
    mischief: { userInfo: { email: 'we\u0456@example.edu' } },
    outcome: 'stranger',
  },
};
const CAS: Record<string, Row> = {
  'a listed user': { outcome: 'admin' },
  'a user that is not listed': { account: '20110042', outcome: 'stranger' },
  'a listed user as another case was typed': { account: 'ZHANG.WEI', outcome: 'stranger' },
  'a listed id in an attribute': {
    account: '20110042',
    user: `<cas:user>20110042</cas:user><cas:attributes><cas:uid>${LISTED}</cas:uid></cas:attributes>`,
    outcome: 'stranger',
  },
  'an empty user': { user: '<cas:user></cas:user>', outcome: 'failed' },
  'two users': { user: `<cas:user>20110042</cas:user><cas:user>${LISTED}</cas:user>`, outcome: 'failed' },
};

describe.each([
  ['oidc', 'OpenID Connect', { ADMIN_IDS: `${LISTED},auth0|65f1b2,Zhang.Wei,${LONG}` }, OIDC],
  [
    'oidc',
    'OpenID Connect with e-mail addresses as ids',
    { ADMIN_IDS: 'wei@example.edu', SIGN_IN_PROFILE_MAP_FILE: mapFile },
    BY_EMAIL,
  ],
  ['cas', 'CAS', { ADMIN_IDS: `${LISTED},Zhang.Wei` }, CAS],
] as const)('%s: the accounts of %s [admin-gate]', (protocol, _name, settings, rows) => {
  beforeAll(() => restart(protocol, settings), 30_000);

  test.each(Object.entries<Row>(rows))('%s', async (_what, { account = LISTED, mischief, user, outcome }) => {
    oidc.mischief = mischief ?? {};
    cas.answer = user === undefined ? undefined : () => ({ body: casUser(user) });
    const { browser, returned } = await signIn(account);
    oidc.mischief = {};
    cas.answer = undefined;
    expect(returned.status).toBe(outcome === 'failed' ? 502 : 200);
    expect(await seen(browser, '/usage')).toBe(outcome === 'admin' ? 200 : 403);
    if (outcome === 'admin') return;
    const stranger = new TestBrowser();
    await stranger.get(at());
    // Nothing in the browser distinguishes the two, so that no later answer can.
    expect([...browser.cookies.keys()].filter((name) => name.startsWith(deployment.botUrl))).toEqual([
      ...stranger.cookies.keys(),
    ]);
    for (const path of ['', '/usage', '/nowhere'])
      expect(visibleParts(await browser.get(at(path)))).toEqual(visibleParts(await stranger.get(at(path))));
  });
});

describe.each(['oidc', 'cas'] as const)('sessions with %s [admin-gate]', (protocol) => {
  beforeAll(() => restart(protocol, { ADMIN_IDS: LISTED }), 30_000);

  test('the callback of a member and of an administrator have the same page', async () => {
    const [admin, member] = [await signIn(LISTED), await signIn('20110042')];
    expect(member.returned.text).toBe(admin.returned.text);
    expect(refreshOf(admin.returned)).toBe(at());
  });

  test('signing out and the end of an hour lead to the page of strangers', async () => {
    const { browser: leaving } = await signIn(LISTED);
    const { browser: idle } = await signIn(LISTED);
    const out = await leaving.submit(await leaving.get(at()), '/admin/sign-out');
    expect(out.headers['location']).toBe('/admin');
    deployment.advance(HOUR_MS + 1_000);
    const stranger = visibleParts(await new TestBrowser().get(at()));
    for (const browser of [leaving, idle]) expect(visibleParts(await browser.get(at()))).toEqual(stranger);
    expect(await seen((await signIn(LISTED)).browser)).toBe(200);
  });

  test('two tabs of one browser sign in, in any order', async () => {
    const browser = new TestBrowser({ account: LISTED });
    const [first, second] = [await browser.get(at()), await browser.get(at())];
    await browser.follow(await browser.get(await leaveAdmin(browser, first)));
    expect(await seen(browser)).toBe(200);
    // The form of the other tab leads to the overview.
    expect((await browser.submit(second)).headers['location']).toBe('/admin');
    const old = await browser.get(at());
    await browser.submit(old, '/admin/sign-out');
    expect((await browser.submit(old, '/admin/sign-out')).status).toBe(403);

    const [one, two] = [await browser.get(at()), await browser.get(at())];
    const [left, later] = [await leaveAdmin(browser, one), await leaveAdmin(browser, two)];
    await browser.follow(await browser.get(left));
    expect(await seen(browser)).toBe(200);
    expect(refreshOf(await browser.follow(await browser.get(later)))).toBe(at());
    expect(await seen(browser)).toBe(200);
  });

  test('a session ends when another list is in force, and begins again with the old one', async () => {
    const { browser } = await signIn(LISTED);
    await restart(protocol, { ADMIN_IDS: '20110042' });
    const stranger = new TestBrowser();
    expect(visibleParts(await browser.get(at()))).toEqual(visibleParts(await stranger.get(at())));
    await restart(protocol, { ADMIN_IDS: LISTED });
    expect(await seen(browser)).toBe(200);
  }, 60_000);
});
