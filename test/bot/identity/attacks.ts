import { expect } from '@jest/globals';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { IdentityFixture } from './identity-fixture.ts';
import { TestBrowser, type Answer } from './test-browser.ts';

/** Lives in milliseconds (SECURITY.md one-live-ticket). */
const TICKET_LIFE_MS = 600_000;
const TRANSACTION_LIFE_MS = 300_000;

/** One attempt to link the owner with another person's account, or another person with the owner's. */
export interface Attempt {
  fixture: IdentityFixture;
  random: SeededRandom;
  /** The person who asked for the link; also their account id and their user id in the messaging app. */
  owner: string;
  /** A second person with a separate account and user id in the messaging app. */
  other: string;
}

/** @returns the number of notices that the owner must have received about another person who used the link */
export type Attack = (attempt: Attempt) => Promise<0 | 1>;

export const ATTACKS: Record<string, Attack> = {
  'another browser': anotherBrowser,
  'another person': anotherPerson,
  'GETs of previewers': previewers,
  'a replayed callback': replayedCallback,
  'a stripped or altered state': alteredState,
  'an attacker’s code': injectedCode,
  'parallel callbacks': parallelCallbacks,
  'a return of another protocol': otherProtocol,
};

/** The owner starts to sign in, and a second browser tries to continue with everything that it could have seen. */
async function anotherBrowser({ fixture, random, owner, other }: Attempt): Promise<0> {
  const link = await fixture.link(owner);
  const [own, second] = [ownBrowser(fixture, owner), fixture.browser(random.pick([owner, other]), owner)];
  if (random.oneIn(2)) await second.get(link);
  const landing = await own.get(link);
  const started = await own.submit(landing);
  const steps: (() => Promise<Answer>)[] = [
    () => second.get(link),
    () => second.submit(landing),
    () => second.get(`${fixture.url}/sign-in/confirm`),
  ];
  if (random.oneIn(2)) {
    const callback = await callbackOf(own, started);
    const confirm = random.oneIn(2) ? await own.get(callback).then((answer) => own.follow(answer)) : undefined;
    steps.push(() => second.get(callback));
    if (confirm) steps.push(() => second.submit(confirm, '/sign-in/confirm'));
  }
  for (const step of random.shuffle(steps)) expect((await step()).status).toBeGreaterThanOrEqual(400);
  return 0;
}

/** The owner forwards the link, or the authorize address that it leads to. */
async function anotherPerson(attempt: Attempt): Promise<0 | 1> {
  const { fixture, random, owner, other } = attempt;
  const link = await fixture.link(owner);
  if (random.oneIn(3)) await ownBrowser(fixture, owner).get(link);
  const victim = fixture.browser(other, random.pick([other, other, 'stranger']));
  if (random.oneIn(4)) return forwardedAuthorize(attempt, link, victim);
  const beforeStartMs = random.pick([0, 0, 1, TICKET_LIFE_MS - 1, TICKET_LIFE_MS]);
  const beforeReturnMs = random.pick([0, 0, 1, TRANSACTION_LIFE_MS - 1, TRANSACTION_LIFE_MS]);
  const isAlive = beforeReturnMs < TRANSACTION_LIFE_MS && beforeStartMs + beforeReturnMs < TICKET_LIFE_MS;
  const landing = await victim.get(link);
  fixture.clock.nowMs += beforeStartMs;
  const started = await victim.submit(landing, undefined, userAgent(random));
  if (beforeStartMs >= TICKET_LIFE_MS) {
    expect(started.status).toBe(410);
    return 0;
  }
  const back = await victim.follow(started, /\/oauth\/(platform\/\w+\/)?callback/);
  fixture.clock.nowMs += beforeReturnMs;
  const end = await victim.follow(back);
  expect([400, 403, 410]).toContain(end.status);
  expect((await victim.get(`${fixture.url}/sign-in/confirm`)).status).toBe(400);
  if (isAlive) expect((await victim.get(link)).status).toBe(410);
  await confirmIfAsked(victim, end);
  return isAlive ? 1 : 0;
}

async function forwardedAuthorize({ fixture, owner }: Attempt, link: string, victim: TestBrowser): Promise<0> {
  const own = ownBrowser(fixture, owner);
  const atService = await own.follow(await own.submit(await own.get(link)), /\/oauth2\.0\/authorize/);
  const end = await victim.follow(atService);
  expect(end.status).toBe(400);
  await confirmIfAsked(victim, end);
  expect((await own.get(`${fixture.url}/sign-in/confirm`)).status).toBe(400);
  return 0;
}

/** Link previewers fetch every address they see. The link must stay usable. */
async function previewers({ fixture, random, owner }: Attempt): Promise<0> {
  const link = await fixture.link(owner);
  const agents = ['facebookexternalhit/1.1', 'Slackbot-LinkExpanding 1.0', 'Mozilla/5.0 wxwork/4.1', ''] as const;
  // Without parameters, the callback address is where a sign-out at the service ends.
  const signedOut = `${fixture.url}/oauth/callback`;
  const addresses = [link, link, link, `${link}/start`, `${fixture.url}/sign-in/confirm`, signedOut];
  const visits = Array.from({ length: random.integer(1, 12) }, async () => {
    const headers = { 'user-agent': random.pick(agents), 'sec-fetch-site': 'none', purpose: 'prefetch' };
    const machine = random.oneIn(3) ? ownBrowser(fixture, owner) : new TestBrowser();
    const address = random.pick(addresses as [string, ...string[]]);
    const { status } = await machine.send(random.pick(['GET', 'GET', 'HEAD']), address, { headers });
    if (address === link || address === signedOut) expect(status).toBe(200);
    else expect(status).toBeGreaterThanOrEqual(400);
  });
  await Promise.all(visits);
  const landing = await new TestBrowser().get(link);
  expect(landing.status).toBe(200);
  expect((await ownBrowser(fixture, owner).submit(landing)).status).toBe(403);
  return 0;
}

/** The owner's callback address is used again: by the owner's browser, by another browser, or too late. */
async function replayedCallback({ fixture, random, owner, other }: Attempt): Promise<0> {
  const own = ownBrowser(fixture, owner);
  const callback = await callbackOf(own, await own.submit(await own.get(await fixture.link(owner))));
  const strange = random.pick([new TestBrowser(), fixture.browser(other, other)]);
  if (random.oneIn(2)) expect((await strange.get(callback)).status).toBe(400);
  const waitMs = random.pick([0, 1, TRANSACTION_LIFE_MS - 1, TRANSACTION_LIFE_MS, TRANSACTION_LIFE_MS + 1]);
  fixture.clock.nowMs += waitMs;
  expect((await own.get(callback)).status).toBe(waitMs < TRANSACTION_LIFE_MS ? 303 : 400);
  const replays = Array.from({ length: random.integer(1, 4) }, () => random.pick([own, strange]));
  for (const browser of replays) expect((await browser.get(callback)).status).toBe(400);
  expect(exchangesOf(fixture, callback)).toBe(waitMs < TRANSACTION_LIFE_MS ? 1 : 0);
  return 0;
}

/** `state` is removed, altered, repeated or taken from another flow, at the callback of the platform or of the service. */
async function alteredState({ fixture, random, owner, other }: Attempt): Promise<0> {
  const own = ownBrowser(fixture, owner);
  const started = await own.submit(await own.get(await fixture.link(owner)));
  const provider = usesPlatform(fixture) && random.oneIn(2) ? /\/platform\/\w+\/callback/ : /\/oauth\/callback/;
  const callback = new URL(String((await own.follow(started, provider)).headers['location']));
  const right = callback.searchParams.get('state') ?? random.text(64);
  callback.searchParams.delete('state');
  const foreign = async () => {
    const browser = ownBrowser(fixture, other);
    const answer = await browser.follow(await browser.submit(await browser.get(await fixture.link(other))), provider);
    return new URL(String(answer.headers['location'])).searchParams.get('state') ?? random.text(64);
  };
  const at = random.integer(0, 63);
  const altered = [
    `&state=${right.slice(0, at)}${right[at] === '0' ? '1' : '0'}${right.slice(at + 1)}`,
    `&state=${right.slice(0, at)}`,
    `&state=${right}${random.text(random.integer(1, 9))}`,
    `&state=${right.toUpperCase()}X`,
    `&state=${random.text(64)}`,
    `&state=${right}&state=${right}`,
    `&state=`,
    `&state=${await foreign()}`,
    // With `state` set to absent, a missing state at the service's callback is valid.
    ...(isStateOptional(fixture) && provider.source === /\/oauth\/callback/.source ? [] : ['', `&State=${right}`]),
  ];
  const isWrong = await own.get(`${callback.href}${random.pick(altered as [string, ...string[]])}`);
  expect(isWrong.status).toBe(400);
  expect(exchangesOf(fixture, callback.href)).toBe(0);
  return 0;
}

/** The returned code or ticket arrives in the parameter of another protocol, or in both. */
async function otherProtocol({ fixture, random, owner, other }: Attempt): Promise<0> {
  const own = ownBrowser(fixture, owner);
  const callback = new URL(await callbackOf(own, await own.submit(await own.get(await fixture.link(owner)))));
  const { returns } = fixture.provider;
  const otherName = returns === 'code' ? 'ticket' : 'code';
  const right = callback.searchParams.get(returns) ?? '';
  callback.searchParams.delete(returns);
  const values = [right, fixture.provider.mintCode(other), random.text(32)] as const;
  const brought = random.pick(values);
  callback.searchParams.set(otherName, brought);
  // The first visit differs from a valid one only in the parameter name.
  const visits = [callback.href];
  if (random.oneIn(3)) callback.searchParams.append('error', random.pick(['', 'server_error', 'access_denied']));
  if (random.oneIn(3)) callback.searchParams.append('iss', 'https://id.evil.test');
  visits.push(callback.href);
  for (const visit of visits) {
    const end = await own.get(visit);
    expect(end.status).not.toBe(303);
    expect(end.text).not.toContain('action="/sign-in/confirm"');
  }
  expect(fixture.provider.seen.codes).not.toContain(brought);
  expect((await own.get(`${fixture.url}/sign-in/confirm`)).status).toBe(400);
  return 0;
}

/** The attacker's own code is injected into the owner's browser at any step of the owner's sign-in. */
async function injectedCode(attempt: Attempt): Promise<0 | 1> {
  const { fixture, random, owner, other } = attempt;
  const own = ownBrowser(fixture, owner);
  const link = await fixture.link(owner);
  const position = random.integer(0, 5);
  if (position > 0) await own.get(link);
  let callback: string | undefined;
  if (position > 1) {
    const started = await own.submit(await own.get(link));
    if (position > 2) callback = await callbackOf(own, started);
    if (position > 3 && callback !== undefined) await own.get(callback);
    if (position > 4) await own.get(`${fixture.url}/sign-in/confirm`);
  }
  const isPlatform = usesPlatform(fixture) && random.oneIn(3);
  const challenge = random.pick([undefined, 'of another flow']);
  const code = isPlatform ? fixture.platform.codeFor(other) : fixture.provider.mintCode(other, challenge);
  const state = random.pick(['', '', `&state=${random.text(64)}`, '&state=null']);
  const path = isPlatform ? `/oauth/platform/${fixture.platform.name}/callback` : '/oauth/callback';
  const end = await own.follow(
    await own.get(`${fixture.url}${path}?${isPlatform ? 'code' : fixture.provider.returns}=${code}${state}`),
    /\/oauth2\.0\/authorize/,
  );
  const isServicePending = position === 3 || (position === 2 && !usesPlatform(fixture));
  const isTaken = isStateOptional(fixture) && !isPlatform && state === '' && isServicePending;
  // The service refuses a code that is bound to another flow's PKCE challenge, and the owner's browser starts again.
  if (isTaken && challenge !== undefined) expect(end.headers['location']).toContain('/oauth2.0/authorize');
  // Without `state` and same-id, the confirmation page shows the attacker's name, and the owner does not confirm.
  else if (isTaken && !provesId(fixture)) expect(end.text).toContain(`Person ${other}`);
  else expect(end.status).toBe(isTaken ? 403 : 400);
  return isTaken && challenge === undefined && provesId(fixture) ? 1 : 0;
}

/** Parallel callbacks, valid and invalid, from the owner's browser and others. */
async function parallelCallbacks({ fixture, random, owner, other }: Attempt): Promise<0> {
  const own = ownBrowser(fixture, owner);
  const callback = await callbackOf(own, await own.submit(await own.get(await fixture.link(owner))));
  const strange = fixture.browser(other, other);
  const visits = Array.from({ length: random.integer(2, 12) }, () =>
    random.pick([
      () => own.get(callback),
      () => own.get(callback),
      () => strange.get(callback),
      () => own.get(`${callback}&state=${random.text(8)}`),
    ])(),
  );
  const statuses = (await Promise.all(visits)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 303).length).toBeLessThanOrEqual(1);
  expect(exchangesOf(fixture, callback)).toBeLessThanOrEqual(1);
  return 0;
}

const ownBrowser = (fixture: IdentityFixture, owner: string) => fixture.browser(owner, owner);
const usesPlatform = (fixture: IdentityFixture) => fixture.options.signIn.rules.proof.includes('same-browser');
const provesId = (fixture: IdentityFixture) => fixture.options.signIn.rules.proof.includes('same-id');
const isStateOptional = (fixture: IdentityFixture) => fixture.options.signIn.service.state === 'absent';

/** The callback address to which the service redirects this browser, not yet opened. */
async function callbackOf(browser: TestBrowser, started: Answer): Promise<string> {
  return String((await browser.follow(started, /\/oauth\/callback/)).headers['location']);
}

function exchangesOf(fixture: IdentityFixture, callback: string): number {
  const { returns, seen } = fixture.provider;
  const code = new URL(callback).searchParams.get(returns);
  return seen.codes.filter((seen) => seen === code).length;
}

async function confirmIfAsked(browser: TestBrowser, page: Answer): Promise<void> {
  if (page.text.includes('action="/sign-in/confirm"')) await browser.submit(page, '/sign-in/confirm');
}

/** User agent of a browser or of the messaging app's web view. */
function userAgent(random: SeededRandom): Record<string, string> {
  return { 'user-agent': random.pick(['Mozilla/5.0', 'Mozilla/5.0 wxwork/4.1']) };
}
