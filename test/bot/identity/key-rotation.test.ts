import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { DAY_MS, HOUR_MS } from '../../../src/shared/clock.ts';
import { reportIdentity } from '../../../src/bot/metrics/report-identity.ts';
import { KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { personKey } from '../../../src/bot/identity/account.ts';
import { createIdentity, type Identity } from '../../../src/bot/identity/identity.ts';
import { createRewrapLink } from '../../../src/bot/identity/links/rewrap-link.ts';
import { createStore, keys } from '../../../src/bot/identity/store.ts';
import { readStoredLink } from '../../../src/bot/identity/links/stored-link.ts';
import { createVault } from '../../../src/bot/identity/tokens/vault.ts';
import { useIdentityFixture } from './use-identity-fixture.ts';
import { asConversationId } from '../../../src/bot/domain/ids.ts';

const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
const RINGS = {
  old: new KeyRing([OLD]),
  /** The first step with several processes: all can read the new key before any writes with it. */
  oldReadsNew: new KeyRing([OLD, NEW]),
  newReadsOld: new KeyRing([NEW, OLD]),
  new: new KeyRing([NEW]),
};
const [OLD_ID, NEW_ID] = [RINGS.old.currentKeyId, RINGS.new.currentKeyId];

const { server, fixture, open: start } = useIdentityFixture();

async function open(people: string[]): Promise<void> {
  await start({
    signIn: { proof: ['same-id'], keepTokens: 'both' },
    identity: { keyRing: RINGS.old },
  });
  for (const person of people) await fixture.walk(fixture.browser(person), await fixture.link(person));
}

const identityWith = (keyRing: KeyRing) => createIdentity({ ...fixture.options, keyRing });
const keyOf = (chatUserId: string) => personKey({ ...fixture.owner, chatUserId });
const linkOf = (chatUserId: string) => server.redis.hgetall(keys.link(keyOf(chatUserId)));
const keyIdsOf = async (chatUserId: string) => {
  const { who = '', profile = '', tokens = '' } = await linkOf(chatUserId);
  return [who, profile, tokens].map((sealed) => sealed.split('.')[1]);
};
/** User ids of `count` people, starting with `20001`. */
const crowd = (count: number) => Array.from({ length: count }, (_, index) => `${20_001 + index}`);

/** Makes the next sweep due and runs it. */
const sweep = async (identity: Identity) => {
  await server.redis.del(keys.keySweep());
  await identity.sweepKeys();
};

describe('key rotation [key-rotation]', () => {
  test('reading a link re-encrypts it with the newest key without changing its content', async () => {
    await open(['20001']);
    expect(await keyIdsOf('20001')).toEqual([OLD_ID, OLD_ID, OLD_ID]);
    const lifeMs = await server.redis.pttl(keys.link(keyOf('20001')));
    const rotated = identityWith(RINGS.newReadsOld);
    const before = await fixture.identity.accountOf(fixture.owner, '20001');
    expect(await rotated.accountOf(fixture.owner, '20001')).toEqual(before);
    expect(await keyIdsOf('20001')).toEqual([NEW_ID, NEW_ID, NEW_ID]);
    const newOnly = identityWith(RINGS.new);
    expect(await newOnly.accountOf(fixture.owner, '20001')).toEqual(before);
    expect(await newOnly.freshAccessToken(fixture.owner, '20001')).toMatch(/^AT:/);
    expect(fixture.service.seen.refreshes).toEqual([]);
    expect(await server.redis.pttl(keys.link(keyOf('20001')))).toBeLessThanOrEqual(lifeMs);
  });

  test('a sweep re-encrypts every link and reports the records per key, down to zero for the old key', async () => {
    await open(crowd(25));
    await server.redis.mset(Array.from({ length: 1_500 }, (_, index) => [`other:${index}`, 'x']).flat());
    await sweep(identityWith(RINGS.oldReadsNew));
    expect(fixture.keyCounts).toEqual([{ [OLD_ID]: 75, [NEW_ID]: 0 }]);
    await sweep(identityWith(RINGS.newReadsOld));
    expect(fixture.keyCounts.at(-1)).toEqual({ [OLD_ID]: 0, [NEW_ID]: 75 });
    for (const person of crowd(25)) expect(await keyIdsOf(person)).toEqual([NEW_ID, NEW_ID, NEW_ID]);
    for (const key of [keys.keySweep(), keys.sealedRecords()]) expect(await server.redis.pttl(key)).toBeGreaterThan(0);
  });

  test('one process sweeps at a time, and all processes report the same numbers', async () => {
    await open(crowd(5));
    await Promise.all(Array.from({ length: 4 }, () => identityWith(RINGS.newReadsOld).sweepKeys()));
    const late = identityWith(RINGS.newReadsOld);
    await late.sweepKeys();
    expect(fixture.keyCounts.at(-1)).toEqual({ [OLD_ID]: 0, [NEW_ID]: 15 });
    expect(new Set(fixture.keyCounts.map((counts) => JSON.stringify(counts))).size).toBe(1);
  });

  test('nothing is swept or reported with a single key', async () => {
    await open(['20001']);
    await fixture.identity.sweepKeys();
    expect(fixture.keyCounts).toEqual([]);
    expect(await server.redis.exists(keys.keySweep())).toBe(0);
  });

  test('re-encryption does not overwrite a value written after the read', async () => {
    await open(['20001']);
    const store = createStore(server.redis);
    const keyRing = RINGS.newReadsOld;
    const rewrap = createRewrapLink({ store, keyRing, vault: createVault(keyRing) });
    const read = readStoredLink(await linkOf('20001'));
    await server.redis.hset(keys.link(keyOf('20001')), { tokens: 'of a refresh meanwhile', tokensVersion: 7 });
    const rewrapped = await rewrap(keyOf('20001'), read!);
    expect(await linkOf('20001')).toMatchObject({ tokens: 'of a refresh meanwhile', tokensVersion: '7' });
    expect(rewrapped.tokens).toBe(read?.tokens);
    expect((await keyIdsOf('20001')).slice(0, 2)).toEqual([NEW_ID, NEW_ID]);
    await fixture.identity.unlink(fixture.owner, '20001', 'm1');
    await rewrap(keyOf('20001'), read!);
    expect(await linkOf('20001')).toEqual({});
  });

  test('a form shown before the key change still works in a process with both keys', async () => {
    await open([]);
    const browser = fixture.browser('20001');
    const confirm = await fixture.walkToConfirm(browser, await fixture.link('20001'));
    fixture.serve(identityWith(RINGS.newReadsOld));
    expect((await browser.submit(confirm, '/sign-in/confirm')).text).toContain('You are signed in');
  });

  test('refreshes, links, reads and re-checks succeed in parallel with a rotation', async () => {
    const people = crowd(12);
    await open(people);
    const stages: KeyRing[][] = [
      [RINGS.old],
      [RINGS.old, RINGS.oldReadsNew],
      [RINGS.oldReadsNew],
      [RINGS.oldReadsNew, RINGS.newReadsOld],
      [RINGS.newReadsOld],
    ];
    let processes: Identity[] = [];
    let requests = 0;
    const any = () => processes[(requests += 1) % processes.length]!;
    const done = { reads: 0, refreshes: 0, rechecks: 0, links: 0, sweeps: 0 };
    let isOver = false;
    const repeat = async (work: (round: number) => Promise<void>) => {
      for (let round = 0; !isOver; round += 1) {
        await work(round);
        await pause(2);
      }
    };
    const load = () =>
      Promise.all([
        repeat(async (round) => {
          const person = people[round % people.length]!;
          expect((await any().accountOf(fixture.owner, person))?.status).toBe('active');
          done.reads += 1;
        }),
        repeat(async (round) => {
          const person = people[round % 6]!;
          await server.redis.hset(keys.link(keyOf(person)), { refreshAtMs: 0, lastRefreshAttemptMs: 0 });
          expect(await any().freshAccessToken(fixture.owner, person)).toMatch(/^AT:/);
          done.refreshes += 1;
        }),
        repeat(async (round) => {
          await server.redis.zadd(keys.rechecks(), 'XX', 0, keyOf(people[6 + (round % 6)]!));
          done.rechecks += await any().recheckDue(10);
        }),
        ...['30001', '30002'].map((person) =>
          repeat(async () => {
            await any().unlink(fixture.owner, person, randomUUID());
            await server.redis.del(keys.minted(keyOf(person)));
            const page = await fixture.walk(fixture.browser(person), await fixture.link(person, true));
            expect(page.text).toContain('You are signed in');
            done.links += 1;
          }),
        ),
        repeat(async () => {
          await sweep(any());
          done.sweeps += 1;
        }),
      ]);
    const enter = (rings: KeyRing[]) => {
      processes = rings.map(identityWith);
      fixture.serve(...processes);
    };
    enter(stages[0]!);
    const running = load();
    running.catch(() => undefined);
    const kinds = Object.keys(done) as (keyof typeof done)[];
    try {
      for (const stage of stages) {
        enter(stage);
        const before = { ...done };
        // Waits until each kind of work has run at least 4 times in each stage, regardless of the machine's speed.
        const isEnough = async () => {
          while (!isOver && kinds.some((kind) => done[kind] < before[kind] + 4)) await pause(10);
        };
        await Promise.race([isEnough(), running]);
      }
    } finally {
      isOver = true;
    }
    await running;
    expect(fixture.notices.filter(({ notice }) => notice.kind !== 'linked')).toEqual([]);
    expect(fixture.events.filter((event) => /refused|suspended|again/.test(event))).toEqual([]);

    await sweep(processes[0]!);
    expect(fixture.keyCounts.at(-1)?.[OLD_ID]).toBe(0);
    const newOnly = identityWith(RINGS.new);
    for (const person of [...people, '30001', '30002'])
      expect((await newOnly.accountOf(fixture.owner, person))?.accountId).toBe(person);
  });

  test('a process without the key of a link leaves it unchanged for a process with the key', async () => {
    await open(['20001']);
    fixture.clock.nowMs += DAY_MS;
    const before = await linkOf('20001');
    await identityWith(RINGS.new).recheckDue(10);
    expect(await linkOf('20001')).toEqual(before);
    expect(await server.redis.zcard(keys.rechecks())).toBe(1);
    fixture.clock.nowMs += HOUR_MS;
    expect(await identityWith(RINGS.newReadsOld).recheckDue(10)).toBe(1);
    expect(await keyIdsOf('20001')).toEqual([NEW_ID, NEW_ID, NEW_ID]);
  });

  test('a link whose tokens no process can decrypt stays active for 72 hours, then is suspended until a check succeeds', async () => {
    await open(['20001']);
    const { tokens = '' } = await linkOf('20001');
    const store = (value: string) => server.redis.hset(keys.link(keyOf('20001')), 'tokens', value);
    await store(tokens.replace(OLD_ID, NEW_ID));
    const check = async (afterMs: number) => {
      fixture.clock.nowMs += afterMs;
      await fixture.identity.recheckDue(10);
      return (await fixture.identity.accountOf(fixture.owner, '20001'))?.status;
    };
    expect(await check(DAY_MS)).toBe('active');
    expect(await check(71 * HOUR_MS)).toBe('active');
    expect(await check(HOUR_MS)).toBe('suspended');
    expect(fixture.events).toContain('suspended key-lacking');
    await store(tokens);
    expect(await check(HOUR_MS)).toBe('active');
  });

  test('after the loss of a key, people sign in again and nothing crashes', async () => {
    await open(['20001', '20002']);
    const started = fixture.browser('20003');
    const confirm = await fixture.walkToConfirm(started, await fixture.link('20003'));
    const lost = identityWith(RINGS.new);
    fixture.serve(lost);
    expect(await lost.accountOf(fixture.owner, '20001')).toBeUndefined();
    await expect(lost.freshAccessToken(fixture.owner, '20001')).rejects.toMatchObject({ code: 'sign_in_again' });
    fixture.clock.nowMs += 24 * 3_600_000;
    await lost.recheckDue(10);
    expect((await started.submit(confirm, '/sign-in/confirm')).status).toBeLessThan(500);
    const [twoKeys, unknownId] = [identityWith(new KeyRing([NEW, randomBytes(32)])), OLD_ID];
    await sweep(twoKeys);
    expect(fixture.keyCounts.at(-1)?.[unknownId]).toBe(6);

    const request = {
      ...fixture.owner,
      chatUserId: '20001',
      conversation: { id: asConversationId('c0ffee'), partition: 1 },
    };
    const found = await lost.inviteToSignIn({ ...request, language: 'en', mints: 'always' });
    const uselessLinkMs = found.kind === 'linked' ? found.linkedAtMs : 0;
    const invitation = await lost.inviteToSignIn({ ...request, language: 'en', mints: 'always', uselessLinkMs });
    const page = await fixture.walk(fixture.browser('20001'), invitation.kind === 'invited' ? invitation.url : '');
    expect(page.text).toContain('You are signed in');
    expect((await lost.accountOf(fixture.owner, '20001'))?.status).toBe('active');
  });
});

test('the metric contains only the keys of the last report', async () => {
  const registry = new Registry();
  const report = reportIdentity(registry);
  report.sealedRecords(new Map([['aaaaaaaa', 3]]));
  report.sealedRecords(
    new Map([
      ['bbbbbbbb', 4],
      ['cccccccc', 0],
    ]),
  );
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('parley_sealed_records'));
  expect(lines).toEqual(['parley_sealed_records{key_id="bbbbbbbb"} 4', 'parley_sealed_records{key_id="cccccccc"} 0']);
});
