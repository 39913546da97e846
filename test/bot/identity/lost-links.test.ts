import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { connectRedis, type RedisClient } from '../../../src/shared/redis/redis.ts';
import { MIB_BYTES, MINUTE_MS } from '../../../src/shared/clock.ts';
import { createIdentity, type Identity } from '../../../src/bot/identity/identity.ts';
import { RecentChanges } from '../../../src/bot/identity/links/recent-changes.ts';
import { createNotifyPerson } from '../../../src/bot/app/notify-person.ts';
import { createFakePlatform } from '../../support/fake-platform.ts';
import { recordingLog, startTestRedis, type TestRedis } from '../../support/redis.ts';
import { untilTrue } from '../../support/deployment.ts';
import { startIdentityFixture, withRules, type IdentityFixture } from './identity-fixture.ts';
import { asPersonId } from '../../../src/bot/domain/ids.ts';
import { tries } from '../../support/tries.ts';

// A replica that is promoted lacks the last writes of its master. The processes that wrote them replay them independently,
// in any order, and more than once.

const ALICE = 'alice';
let server: TestRedis;
let redis: RedisClient;
/** State of the replica at the failover. */
let replica: Redis;
let fixture: IdentityFixture;
let processes: [Identity, Identity];

beforeAll(async () => {
  server = await startTestRedis();
  replica = new Redis(Number(new URL(server.url).port), '127.0.0.1', { db: 1, maxRetriesPerRequest: null });
  redis = connectRedis({ urls: [server.url] }, 'fail-fast', recordingLog().log, 'receiver');
  await untilTrue(() => redis.status === 'ready');
});
afterAll(async () => {
  redis.disconnect();
  replica.disconnect();
  await server.stop();
});
beforeEach(async () => {
  fixture = await startIdentityFixture(redis);
  processes = [createIdentity(fixture.options), createIdentity(fixture.options)];
});
afterEach(() => fixture.close());

async function copyAll(from: RedisClient, to: RedisClient, db: number): Promise<void> {
  await to.flushdb();
  const names = await from.keys('*');
  await Promise.all(names.map((name) => from.call('COPY', name, name, 'DB', db)));
}
const replicate = () => copyAll(server.redis, replica, 1);
const failOver = () => copyAll(replica, server.redis, 0);
const accountOf = async (person = ALICE) => (await fixture.identity.accountOf(fixture.owner, person))?.accountId;
const bringBack = (one: Identity) => one.bringBack(one.recall());

async function link(one: Identity, account: string, person = ALICE): Promise<number> {
  fixture.clock.nowMs += MINUTE_MS;
  fixture.serve(one);
  // Clears the limit of five links per hour.
  await server.redis.del(...(await server.redis.keys('{id}:minted:*')), 'none');
  return (await fixture.walk(fixture.browser(account, person), await fixture.link(person, true))).status;
}
let messages = 0;
const unlink = (one: Identity, person = ALICE) => one.unlink(fixture.owner, person, `m${(messages += 1)}`);

const deed = fc.record({
  by: fc.constantFrom(0 as const, 1 as const),
  what: fc.constantFrom('20001' as const, '20002' as const, 'unlink' as const),
});

/** Rarely found at random: the later sign-in is replayed first, then the sign-out of the process that made it. */
const SIGN_IN_AFTER_SIGN_OUT = [
  { by: 0 as const, what: '20001' as const },
  { by: 1 as const, what: 'unlink' as const },
  { by: 0 as const, what: '20002' as const },
];

test('replayed sign-ins and sign-outs restore the state before the failover, in any order and for any loss', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(deed, { minLength: 1, maxLength: 4 }),
      fc.nat(4),
      fc.array(fc.constantFrom(0 as const, 1 as const), { maxLength: 2 }),
      async (deeds, known, order) => {
        await server.redis.flushdb();
        await replicate();
        processes = [createIdentity(fixture.options), createIdentity(fixture.options)];
        for (const [index, { by, what }] of deeds.entries()) {
          if (index === known) await replicate();
          await (what === 'unlink' ? unlink(processes[by]) : link(processes[by], what));
        }
        const before = await accountOf();
        await failOver();
        for (const by of [...order, 0, 1] as const) await bringBack(processes[by]);
        expect(await accountOf()).toBe(before);
      },
    ),
    { numRuns: tries(15), examples: [[SIGN_IN_AFTER_SIGN_OUT, 1, []]] },
  );
}, 60_000);

test('a replayed link releases the held conversations exactly once', async () => {
  const url = await fixture.link(ALICE);
  await replicate();
  fixture.serve(processes[0]);
  await fixture.walk(fixture.browser('20001', ALICE), url);
  fixture.releases.splice(0);
  await failOver();
  expect(await accountOf()).toBeUndefined();
  await bringBack(processes[0]);
  expect(await accountOf()).toBe('20001');
  expect(fixture.releases).toHaveLength(1);
  expect(await fixture.identity.pendingReleases(10)).toEqual(fixture.releases);
  // A second replay changes nothing.
  await bringBack(processes[0]);
  expect(fixture.releases).toHaveLength(1);
  expect(fixture.events.filter((event) => event === 'linked-again')).toHaveLength(1);
  expect(fixture.notices.filter(({ notice }) => notice.kind === 'linked')).toHaveLength(1);
});

test('what a person did after the failover counts: replay undoes neither a sign-out nor a sign-in', async () => {
  const [first, second] = processes;
  await replicate();
  await link(first, '20001');
  await failOver();
  // The new master knows no link, and the reply says so. The request is recorded anyway.
  expect(await unlink(second)).toMatchObject({ wasLinked: false });
  await bringBack(first);
  expect(await accountOf()).toBeUndefined();
  await link(second, '20002');
  await bringBack(first);
  expect(await accountOf()).toBe('20002');
});

test('a link that survived the failover is not replayed once it is undone, even by a program that notes no changes', async () => {
  const [first] = processes;
  await link(first, '20001');
  const links = await server.redis.keys('{id}:link:*');
  await server.redis.del(...links);
  await bringBack(first);
  expect(await accountOf()).toBeUndefined();
});

test('a repeated message repeats a sign-out that was lost with its process', async () => {
  const [first, second] = processes;
  await link(first, '20001');
  await replicate();
  await first.unlink(fixture.owner, ALICE, 'message');
  await failOver();
  expect(await accountOf()).toBe('20001');
  expect(await second.unlink(fixture.owner, ALICE, 'message')).toMatchObject({ wasLinked: true });
  expect(await accountOf()).toBeUndefined();
});

test('a sign-out that is brought back answers its message as before, without undoing a later link', async () => {
  const [first, second] = processes;
  await link(first, '20001');
  await replicate();
  await first.unlink(fixture.owner, ALICE, 'message');
  await failOver();
  await bringBack(first);
  expect(await accountOf()).toBeUndefined();
  await link(second, '20002');
  expect(await second.unlink(fixture.owner, ALICE, 'message')).toMatchObject({ wasLinked: true });
  expect(await accountOf()).toBe('20002');
});

test('a lost sign-in notifies the person once if another person has linked the account since then', async () => {
  const [first, second] = processes;
  await replicate();
  await link(first, '20001');
  await failOver();
  await link(second, '20001', 'bob');
  fixture.notices.splice(0);
  await bringBack(first);
  await bringBack(first);
  expect(await accountOf()).toBeUndefined();
  expect(await accountOf('bob')).toBe('20001');
  expect(fixture.notices).toMatchObject([{ person: { chatUserId: ALICE }, notice: { kind: 'sign-in-lost' } }]);
});

test.each([
  ['en', 'Your sign-in was lost because of a problem on our side. Send /signin to sign in again.'],
  ['zh', '由于系统故障，你的登录未能保留，请发送“登录”重新登录。'],
] as const)('the notice of a lost sign-in is sent to people in their language (%s)', async (language, text) => {
  const platform = createFakePlatform();
  const { keyRing, log } = fixture.options;
  const tell = createNotifyPerson({
    redis,
    keyRing,
    log,
    platforms: new Map([['wecom', platform]]),
    groupScope: 'member',
    defaultLanguage: 'zh',
  });
  await tell({ ...fixture.owner, chatUserId: ALICE, language }, { kind: 'sign-in-lost' });
  expect(platform.written).toEqual([{ userId: ALICE, text }]);
});

test('a sign-in by a typed code is replayed, and its message is answered as before', async () => {
  const typed = () => createIdentity(withRules(fixture.options, { proof: ['typed-code'] }));
  const [receiver, worker] = [typed(), typed()];
  fixture.serve(receiver);
  const page = await fixture.walk(fixture.browser('20001'), await fixture.link(ALICE));
  const code = /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(page.text)?.[0] ?? 'no code';
  await replicate();
  const message = { owner: fixture.owner, chatUserId: ALICE, chatKind: 'private', text: code, messageId: 'm' } as const;
  expect(await worker.redeemTypedCode(message)).toMatchObject({ kind: 'linked' });
  await failOver();
  await bringBack(worker);
  expect(await accountOf()).toBe('20001');
  expect(await typed().redeemTypedCode(message)).toMatchObject({ kind: 'linked' });
  expect(fixture.events.filter((event) => event === 'linked' || event === 'linked-again')).toHaveLength(2);
});

test('recent changes are bounded in time, number and bytes', () => {
  let nowMs = 0;
  const changes = new RecentChanges(() => nowMs);
  const keys = { link: 'k', rechecks: 'k', outcome: 'k', changed: 'k' };
  const args = { person: asPersonId('p'), holderPrefix: '', outcomeLifeMs: 1 };
  const keep = (outcomeThen = '') =>
    changes.add({
      kind: 'unlinked',
      person: asPersonId('p'),
      who: 'w',
      keys,
      args: { ...args, outcomeThen },
      atMs: 1,
    });
  keep();
  nowMs = 59 * MINUTE_MS;
  keep();
  expect(changes.all()).toHaveLength(2);
  nowMs = 61 * MINUTE_MS;
  expect(changes.all()).toHaveLength(1);
  for (let count = 0; count < 11_000; count += 1) keep();
  expect(changes.all()).toHaveLength(10_000);
  for (let count = 0; count < 10; count += 1) keep('x'.repeat(MIB_BYTES));
  expect(changes.all()).toHaveLength(7);
});

test('recent changes contain no account id, user id, name or token in clear text', async () => {
  await link(processes[0], '20001');
  await unlink(processes[0]);
  const kept = JSON.stringify(processes[0].recall());
  expect(processes[0].recall().map(({ kind }) => kind)).toEqual(['linked', 'unlinked']);
  // As a whole word: the digits may be a part of a time.
  expect(kept).not.toMatch(/(?<!\w)20001(?!\w)/);
  for (const word of [ALICE, 'RT:', 'Person']) expect(kept).not.toContain(word);
});
