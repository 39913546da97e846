import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MINUTE_MS } from '../../../src/shared/clock.ts';
import { conversationKeys, messageKey, preferencesKeyPrefix } from '../../../src/bot/domain/partition-keys.ts';
import { conversationOf, deliveryIdOf, personIdOf } from '../../../src/bot/domain/conversation.ts';
import type { InboundMessage } from '../../../src/bot/domain/message.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import type { TurnCommit, TurnClaim } from '../../../src/bot/domain/turn.ts';
import type { PersonId } from '../../../src/bot/domain/ids.ts';
import type { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { alterEntry } from '../../support/alter-entry.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';
import { tries } from '../../support/tries.ts';

const FINAL: TurnCommit = { outcome: 'final', records: [] };
const alice = conversationOf(textMessage('x'), 'member');
const keyRing = testKeyRing();

const server = useTestRedis();
let inbox: Inbox;
let store: TurnStore;
let nowMs = 1_800_000_000_000;

beforeAll(async () => {
  const options = { redis: server.redis, keyRing, nowMs: () => nowMs, historyLifeMs: 30 * MINUTE_MS };
  inbox = new Inbox({ ...options, limits: { personPerMinute: 20 } });
  store = new DyingWorkersStore(options);
});
beforeEach(async () => {
  await server.redis.flushall();
});

const accept = (message: InboundMessage) => inbox.accept(conversationOf(message, 'member'), message);
const textsOf = (claim: TurnClaim | undefined) =>
  claim?.messages.map(({ message }) => message.parts.map((part) => (part.type === 'text' ? part.text : '')).join());
const begin = async (): Promise<TurnClaim> => {
  const claim = await store.begin(alice);
  if (!claim) throw new Error('nothing waits');
  return claim;
};

describe('a person’s preferences', () => {
  const choice = (personId: PersonId, sealed: string): TurnCommit['preferences'] => ({ personId, field: 'c1', sealed });
  const bob = { ...textMessage('from bob'), sender: { userId: 'bob' } };

  test('are returned with the next claim of the same person, and with no other claim', async () => {
    const ofAlice = personIdOf(textMessage('x'), textMessage('x').sender.userId);
    await accept(textMessage('choose'));
    const claim = await begin();
    expect(claim.preferences).toEqual({});
    await store.commit(claim, { ...FINAL, preferences: choice(ofAlice, 'sealed-a') });
    await accept(textMessage('next'));
    const next = await begin();
    expect(next.preferences).toEqual({ c1: 'sealed-a' });
    await store.commit(next, FINAL);
    // Bob writes in the same conversation, as in a group that shares one.
    await inbox.accept(alice, bob);
    expect((await begin()).preferences).toEqual({});
  });

  test('are not written by a worker that was fenced', async () => {
    const ofAlice = personIdOf(textMessage('x'), textMessage('x').sender.userId);
    await accept(textMessage('choose'));
    const old = await begin();
    const newer = await begin();
    expect(await store.commit(old, { ...FINAL, preferences: choice(ofAlice, 'too late') })).toBe('stale');
    expect(await store.commit(newer, FINAL)).toBe(0);
    await accept(textMessage('next'));
    expect((await begin()).preferences).toEqual({});
  });

  test('expire after 90 days without a turn of that person', async () => {
    const ofAlice = personIdOf(textMessage('x'), textMessage('x').sender.userId);
    const key = preferencesKeyPrefix(alice.partition) + ofAlice;
    await accept(textMessage('choose'));
    await store.commit(await begin(), { ...FINAL, preferences: choice(ofAlice, 's') });
    await server.redis.pexpire(key, 1_000);
    await accept(textMessage('next'));
    await begin();
    expect(await server.redis.pttl(key)).toBeGreaterThan(89 * 24 * 60 * MINUTE_MS);
  });
});

describe('accept', () => {
  test('stores a delivery once that arrives three times at once [accept-once]', async () => {
    const message = textMessage('once');
    const results = await Promise.all([accept(message), accept(message), accept(message)]);
    expect(results.map(({ result }) => result).sort()).toEqual(['new', 'repeat', 'repeat']);
    expect(new Set(results.map(({ deliveryId }) => deliveryId)).size).toBe(1);
    expect(await server.redis.llen(conversationKeys(alice).inbox)).toBe(1);
  });

  test('makes an unmergeable message its own turn and keeps the order around it', async () => {
    const options = { redis: server.redis, keyRing, nowMs: () => nowMs };
    const choosy = new Inbox({ ...options, isUnmergeable: ({ parts }) => JSON.stringify(parts).includes('alone') });
    for (const text of ['one', 'two', 'alone', 'alone too', 'three', 'four'])
      await choosy.accept(alice, textMessage(text));
    const turns: unknown[] = [];
    for (let left = 1; left > 0;) {
      const claim = await begin();
      turns.push(textsOf(claim));
      left = Number(await store.commit(claim, FINAL));
    }
    expect(turns).toEqual([['one', 'two'], ['alone'], ['alone too'], ['three', 'four']]);
  });

  test('gives every key a lifetime except for waiting messages, and none is left without one after the answer', async () => {
    const endless = async () => {
      const keys = await server.redis.keys('*');
      const lives = await Promise.all(keys.map((key) => server.redis.pttl(key)));
      return keys.filter((_key, index) => (lives[index] ?? 0) < 0).sort();
    };
    const { inbox, state, pending } = conversationKeys(alice);
    await accept(textMessage('one'));
    expect(await endless()).toEqual([inbox, pending, state].sort());
    const claim = await begin();
    expect(await endless()).toEqual([inbox, pending].sort());
    await store.commit(claim, FINAL);
    expect(await endless()).toEqual([]);
  });

  test('writes nothing in readable form', async () => {
    await accept(textMessage('canary-in-the-inbox'));
    for (const key of await server.redis.keys('*')) {
      const dumped = JSON.stringify(await server.redis.dumpBuffer(key));
      expect(dumped).not.toContain('canary');
    }
    expect(await server.redis.lrange(conversationKeys(alice).inbox, 0, -1)).not.toContainEqual(
      expect.stringContaining('canary'),
    );
  });

  test('refuses the 21st message of a person within a minute, and its repeats too [rate-limits]', async () => {
    for (let count = 0; count < 20; count += 1) expect((await accept(textMessage('again'))).result).toBe('new');
    const late = textMessage('one too many');
    expect((await accept(late)).result).toBe('limited');
    expect((await accept(late)).result).toBe('limited');
    expect((await accept(textMessage('/stop'))).result).toBe('new');
    const other = textMessage('hello', { sender: { userId: 'bob' }, chat: { kind: 'private', id: 'bob' } });
    expect((await accept(other)).result).toBe('new');
  });
});

describe('begin and commit', () => {
  test('return no turn for an empty inbox', async () => {
    expect(await store.begin(alice)).toBeUndefined();
  });

  test("merge one person's waiting texts into one turn, and make a slash word its own turn", async () => {
    for (const text of ['a', 'b', '/help', 'c']) await accept(textMessage(text));
    const first = await begin();
    expect(textsOf(first)).toEqual(['a', 'b']);
    expect(await store.commit(first, FINAL)).toBe(2);
    const second = await begin();
    expect(textsOf(second)).toEqual(['/help']);
    expect(await store.commit(second, FINAL)).toBe(1);
    expect(textsOf(await begin())).toEqual(['c']);
  });

  test('merge at most ten messages into one turn', async () => {
    for (let count = 0; count < 12; count += 1) await accept(textMessage(`t${count}`));
    const claim = await begin();
    expect(claim.messages).toHaveLength(10);
    expect(await store.commit(claim, FINAL)).toBe(2);
  });

  test('do not merge messages of two people in a shared group conversation', async () => {
    const chat = { kind: 'group', id: 'g' } as const;
    const group = conversationOf(textMessage('x', { chat }), 'group');
    for (const userId of ['alice', 'alice', 'bob']) {
      await inbox.accept(group, textMessage(`from ${userId}`, { chat, sender: { userId } }));
    }
    expect(textsOf(await store.begin(group))).toEqual(['from alice', 'from alice']);
  });

  test('refuse every write of a worker with an older epoch [fence]', async () => {
    await accept(textMessage('q'));
    const frozen = await begin();
    const current = await begin();
    expect(current.epoch).toBeGreaterThan(frozen.epoch);
    expect(await store.commit(frozen, FINAL)).toBe('stale');
    expect(await store.storeAnswer(frozen, 'late')).toBe(false);
    expect(await store.renew(frozen)).toBeUndefined();
    expect(await store.giveBack(frozen, 0)).toBe(false);
    expect(await store.commit(current, FINAL)).toBe(0);
  });

  test('return a crashed turn with the same messages, although more have arrived', async () => {
    await accept(textMessage('a'));
    const crashed = await begin();
    await accept(textMessage('b'));
    const again = await begin();
    expect(again.turnId).toBe(crashed.turnId);
    expect(textsOf(again)).toEqual(['a']);
    expect(again.crashes).toBe(1);
    expect((await begin()).crashes).toBe(2);
  });

  test('do not count a turn that was given back as crashed [orderly-stop]', async () => {
    await accept(textMessage('a'));
    await store.giveBack(await begin(), 0);
    expect((await begin()).crashes).toBe(0);
  });

  test('count no crash of a turn that only waits, and one once it runs again [poison-turns]', async () => {
    await accept(textMessage('slow platform'));
    const first = await begin();
    await store.markWaiting(first);
    expect(await begin()).toMatchObject({ crashes: 0, crashedWorker: undefined });
    const resumed = await begin();
    expect(resumed).toMatchObject({ crashes: 1, crashedWorker: expect.any(String) });
    await store.markWaiting(resumed);
    const waited = await begin();
    expect(waited.crashes).toBe(1);
    await store.markWaiting(waited);
    expect(await store.markRunning(waited)).toBe(true);
    expect((await begin()).crashes).toBe(2);
    expect(await store.markRunning(waited)).toBe(false);
  });

  test('return a stored answer with its turn, and store it encrypted [never-joined]', async () => {
    await accept(textMessage('a'));
    await store.storeAnswer(await begin(), 'the whole answer');
    expect(JSON.stringify(await server.redis.hgetall(conversationKeys(alice).state))).not.toContain('whole');
    const again = await begin();
    expect(again.storedAnswer).toBe('the whole answer');
    await store.commit(again, FINAL);
    await accept(textMessage('b'));
    expect((await begin()).storedAnswer).toBeUndefined();
  });

  test('append, replace and erase the history with the commit', async () => {
    const turn = async (commit: TurnCommit) => {
      await accept(textMessage('q'));
      await store.commit(await begin(), commit);
      await accept(textMessage('probe'));
      const claim = await begin();
      await store.commit(claim, FINAL);
      return claim.history;
    };
    expect(await turn({ ...FINAL, history: { append: 'h1' } })).toEqual(['h1']);
    expect(await turn({ ...FINAL, history: { append: 'h2' } })).toEqual(['h1', 'h2']);
    expect(await turn({ ...FINAL, history: { replaceLast: true, append: 'h3' } })).toEqual(['h1', 'h3']);
    expect(await turn({ ...FINAL, history: { forget: true } })).toEqual([]);
  });

  test('have no further effect when a commit is repeated after its reply was lost [repeatable-scripts]', async () => {
    await accept(textMessage('one'));
    const claim = await begin();
    await accept(textMessage('two'));
    await accept(textMessage('three'));
    const commit: TurnCommit = { ...FINAL, history: { append: 'first' }, noticesShown: ['shown'] };
    await server.redis.rpush(conversationKeys(alice).notices, 'shown', 'not yet shown');
    const answers = [await store.commit(claim, commit), await store.commit(claim, commit)];
    expect(answers).toEqual([2, 2]);
    expect(await server.redis.lrange(conversationKeys(alice).history, 0, -1)).toEqual(['first']);
    expect(await server.redis.lrange(conversationKeys(alice).notices, 0, -1)).toEqual(['not yet shown']);
    expect(textsOf(await begin())).toEqual(['two', 'three']);
  });

  test('name an altered message and remove it with its turn', async () => {
    const message = textMessage('lost');
    await accept(message);
    await alterEntry(server.redis, conversationKeys(alice).inbox);
    const claim = await begin();
    expect(claim).toMatchObject({ messages: [], unreadable: [deliveryIdOf(message)] });
    expect(await store.commit(claim, { outcome: 'dead', records: [] })).toBe(0);
  });
});

describe('held messages', () => {
  test('return in order, before later ones, with their age counted from the release', async () => {
    const messages = ['a', 'b', 'c'].map((text) => textMessage(text));
    for (const message of messages) {
      await accept(message);
      await store.commit(await begin(), { outcome: 'held', records: [], history: { append: 'before' } });
    }
    expect(await store.begin(alice)).toBeUndefined();
    await accept(textMessage('d'));
    // Independent of the difference between the process's and Redis' clock (RELIABILITY.md wrong-clocks).
    nowMs += 9 * MINUTE_MS;
    for (const key of await server.redis.keys('{p*}:message:*'))
      await server.redis.hincrby(key, 'atMs', -9 * MINUTE_MS);
    expect(await store.release(alice)).toEqual({ count: 3, isTurnOpen: false });
    expect(await store.release(alice)).toEqual({ count: 0, isTurnOpen: false });
    const claim = await begin();
    expect(textsOf(claim)).toEqual(['a', 'b', 'c', 'd']);
    const ageMs = (atMs = 0) => nowMs - atMs;
    for (const [atMs, expectedMs] of [
      [claim.messages[0]?.acceptedAtMs, 0],
      [claim.startedAtMs, 9 * MINUTE_MS],
    ] as const) {
      expect(ageMs(atMs)).toBeGreaterThanOrEqual(expectedMs);
      expect(ageMs(atMs)).toBeLessThan(expectedMs + MINUTE_MS);
    }
    expect(claim.history).toEqual([]);
    expect(
      await server.redis.hget(messageKey(alice.partition, deliveryIdOf(messages[0] ?? textMessage(''))), 'state'),
    ).toBe('accepted');
  });

  test('are released behind a running turn', async () => {
    await accept(textMessage('held'));
    await store.commit(await begin(), { outcome: 'held', records: [] });
    await accept(textMessage('/whoami'));
    const running = await begin();
    expect(await store.release(alice)).toEqual({ count: 1, isTurnOpen: true });
    expect(await store.commit(running, FINAL)).toBe(1);
    expect(textsOf(await begin())).toEqual(['held']);
  });
});

test('property: every message is answered once and in order, whatever happens between accept and commit', async () => {
  type Step = 'accept' | 'repeat' | 'slash' | 'begin' | 'commit' | 'crash' | 'hold' | 'release';
  const steps = fc.array(
    fc.constantFrom<Step>('accept', 'repeat', 'slash', 'begin', 'commit', 'crash', 'hold', 'release'),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      await server.redis.flushall();
      const sent: InboundMessage[] = [];
      const answered: string[] = [];
      let claim: TurnClaim | undefined;
      const finish = async (outcome: 'final' | 'held') => {
        if (!claim) return;
        if ((await store.commit(claim, { outcome, records: [] })) !== 'stale' && outcome === 'final') {
          answered.push(...claim.messages.map(({ deliveryId }) => deliveryId));
        }
        claim = undefined;
      };
      const send = async (text: string) => {
        const message = textMessage(text);
        if ((await accept(message)).result === 'new') sent.push(message);
      };
      for (const step of sequence) {
        if (step === 'accept') await send('text');
        if (step === 'slash') await send('/help');
        if (step === 'repeat' && sent[0]) await accept(sent[0]);
        if (step === 'begin' || step === 'crash') claim = await store.begin(alice);
        if (step === 'commit') await finish('final');
        if (step === 'hold' && claim?.messages.every(({ message }) => !message.slash)) await finish('held');
        if (step === 'release') await store.release(alice);
      }
      await store.release(alice);
      while ((claim = await store.begin(alice))) await finish('final');
      expect([...answered].sort()).toEqual(sent.map(deliveryIdOf).sort());
      // Without a hold, the order is the order of sending.
      if (!sequence.includes('hold')) expect(answered).toEqual(sent.map(deliveryIdOf));
    }),
    { numRuns: tries(60) },
  );
});
