import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { conversationOf, deliveryIdOf, personIdOf } from '../../../src/bot/domain/conversation.ts';
import { asDeliveryId } from '../../../src/bot/domain/ids.ts';
import type { InboundMessage } from '../../../src/bot/domain/message.ts';
import type { TurnClaim } from '../../../src/bot/domain/turn.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { readDeadLetters, replayDeadLetter } from '../../../src/bot/queue/dead-letters.ts';
import { readTraces } from '../../../src/bot/queue/read-trace.ts';
import { Sweeper } from '../../../src/bot/queue/sweeper.ts';
import { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { keysOfDeadLetters } from '../../../src/bot/turn/commands/dead-letter-keys.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { tries } from '../../support/tries.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';

const server = useTestRedis();
const keyRing = testKeyRing();
const conversation = conversationOf(textMessage('x'), 'member');
let inbox: Inbox;
let store: TurnStore;
beforeEach(async () => {
  const { redis } = server;
  await redis.flushall();
  inbox = new Inbox({ redis, keyRing, limits: { personPerMinute: 10_000 } });
  store = new TurnStore({ redis, keyRing, nowMs: Date.now, historyLifeMs: 60_000 });
});

async function accept(text: string): Promise<InboundMessage> {
  const message = textMessage(text);
  await inbox.accept(conversation, message);
  return message;
}

async function begin(): Promise<TurnClaim> {
  const claim = await store.begin(conversation);
  if (!claim) throw new Error('nothing waits');
  return claim;
}

const textsOf = ({ messages }: TurnClaim) =>
  messages.map(({ message: { parts } }) => parts.map((part) => (part.type === 'text' ? part.text : '')).join(''));
const replay = (id: string) => replayDeadLetter({ redis: server.redis, keyRing }, asDeliveryId(id));
const finish = (claim: TurnClaim) => store.commit(claim, { outcome: 'final', records: [] });

test('lists a turn that was given up, and no answered one', async () => {
  await accept('answered');
  await finish(await begin());
  expect(await readDeadLetters(server.redis)).toEqual([]);
  const message = await accept('deadly');
  await store.commit(await begin(), { outcome: 'dead', records: [] });
  expect(await readDeadLetters(server.redis)).toEqual([
    { id: deliveryIdOf(message), atMs: expect.any(Number), why: 'crashed', messages: 1 },
  ]);
  const stored = JSON.stringify(
    await server.redis.hgetall(`{p${conversation.partition}}:dead-letter:${deliveryIdOf(message)}`),
  );
  expect(stored).not.toContain('deadly');
});

test('puts a merged turn back as one question, behind those that wait, exactly once [accept-once]', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0, max: 3 }),
      fc.integer({ min: 1, max: 4 }),
      async (merged, waiting, times) => {
        await server.redis.flushall();
        for (let index = 0; index < merged; index += 1) await accept(`dead ${index}`);
        const claim = await begin();
        for (let index = 0; index < waiting; index += 1) await accept(`later ${index}`);
        await store.commit(claim, { outcome: 'dead', records: [] });
        const results = await Promise.all(Array.from({ length: times }, () => replay(claim.turnId)));
        expect(results.toSorted()).toEqual([...Array.from({ length: times - 1 }, () => 'again'), 'replayed']);
        const seen: string[][] = [];
        for (;;) {
          const next = await store.begin(conversation);
          if (!next) break;
          expect(next.chargedAgeMs).toBeLessThan(60_000);
          seen.push(textsOf(next));
          await finish(next);
        }
        expect(seen.flat()).toEqual([
          ...Array.from({ length: waiting }, (_, index) => `later ${index}`),
          ...Array.from({ length: merged }, (_, index) => `dead ${index}`),
        ]);
        expect(seen.at(-1)).toHaveLength(merged);
        expect(await replay(claim.turnId)).toBe('again');
      },
    ),
    { numRuns: tries(25) },
  );
});

test('a replayed question is woken by the next sweep, and its live reply has ended', async () => {
  await accept('deadly');
  const claim = await begin();
  await store.commit(claim, { outcome: 'dead', records: [] });
  expect(await replay(claim.turnId)).toBe('replayed');
  const woken: string[] = [];
  const report = { wakeRepeated: () => undefined, partitionsMissed: () => undefined } as never;
  const wakeQueue = { wake: async ({ id }: { id: string }) => void woken.push(id) };
  await new Sweeper({ redis: server.redis, wakeQueue, report, log: {} as never }).sweep();
  expect(woken).toEqual([conversation.id]);
  expect((await begin()).wasHandedOver).toBe(true);
});

describe('a replay is refused', () => {
  test('for an unknown id', async () => {
    expect(await replay('0'.repeat(40))).toBe('unknown');
  });

  test('while too many messages wait', async () => {
    await accept('deadly');
    const claim = await begin();
    await store.commit(claim, { outcome: 'dead', records: [] });
    for (let index = 0; index < 100; index += 1) await accept(`later ${index}`);
    expect(await replay(claim.turnId)).toBe('full');
  });

  test('for a letter that another key has encrypted', async () => {
    await accept('deadly');
    const claim = await begin();
    await store.commit(claim, { outcome: 'dead', records: [] });
    const other = testKeyRing();
    expect(await replayDeadLetter({ redis: server.redis, keyRing: other }, claim.turnId)).toBe('unreadable');
    expect(await replay(claim.turnId)).toBe('replayed');
  });
});

test('a message that its sender deleted is in no dead letter [taken-back]', async () => {
  const message = await accept('regretted');
  const claim = await begin();
  await inbox.amend(conversation, { kind: 'deleted', message, mayArriveLater: false, imagesBefore: 0 });
  await store.commit(claim, { outcome: 'dead', records: [] });
  expect(await readDeadLetters(server.redis)).toEqual([]);
});

test('finds the dead letters of a person in their conversations, for /forget', async () => {
  const message = await accept('deadly');
  await store.commit(await begin(), { outcome: 'dead', records: [] });
  const { partition, id } = conversation;
  const personId = personIdOf(message, message.sender.userId);
  const find = (who = personId, where = [id]) =>
    keysOfDeadLetters(server.redis, partition, { personId: who, conversations: new Set(where) });
  expect(await find()).toEqual([`{p${partition}}:dead-letter:${deliveryIdOf(message)}`]);
  expect(await find(personIdOf(message, 'another'))).toEqual([]);
  expect(await find(personId, [])).toEqual([]);
});

test('a trace returns the steps of each claim with any names of models and codes', async () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => !/^\d+$/.test(text));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, name), { maxLength: 5 }), async (calls) => {
      await server.redis.flushall();
      const message = await accept('q');
      const dying = new TurnStore({
        ...{ redis: server.redis, keyRing, nowMs: Date.now, historyLifeMs: 60_000, claimLifeMs: 0, workerName: 'one' },
      });
      const first = await dying.begin(conversation);
      first?.trace.note('m', 'lost with its worker');
      if (first) await dying.renew(first);
      const claim = await new TurnStore({
        ...{ redis: server.redis, keyRing, nowMs: Date.now, historyLifeMs: 60_000, claimLifeMs: 0, workerName: 'two' },
      }).begin(conversation);
      for (const [model, outcome] of calls) claim?.trace.note('h', model, outcome, '', 7);
      if (claim) await finish(claim);
      const [trace] = await readTraces(server.redis, deliveryIdOf(message).slice(0, 8));
      const steps = trace?.steps.map(({ step, values }) => [step, ...Object.values(values)]);
      expect(steps).toEqual([
        ['accepted'],
        ['claimed', first?.epoch, 'one', 0],
        ['model asked', 'lost with its worker'],
        ['claimed', claim?.epoch, 'two', 1],
        ...calls.map(([model, outcome]) => ['model call ended', model, outcome, 7]),
      ]);
    }),
    { numRuns: tries(40) },
  );
});
