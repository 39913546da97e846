import { beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MINUTE_MS } from '../../../src/shared/clock.ts';
import { conversationOf, deliveryIdOf } from '../../../src/bot/domain/conversation.ts';
import { conversationKeys } from '../../../src/bot/domain/partition-keys.ts';
import type { InboundMessage } from '../../../src/bot/domain/message.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { openEntry } from '../../../src/bot/queue/inbox-entry.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { tries } from '../../support/tries.ts';

const server = useTestRedis();
const keyRing = testKeyRing();
const channel = { kind: 'group', id: 'C1' } as const;
const conversation = conversationOf(textMessage('x', { chat: channel }), 'member');
let inbox: Inbox;
let store: DyingWorkersStore;

beforeEach(async () => {
  await server.redis.flushall();
  const options = { redis: server.redis, keyRing, nowMs: () => Date.now() };
  inbox = new Inbox({ ...options, limits: { personPerMinute: 1_000 } });
  store = new DyingWorkersStore({ ...options, historyLifeMs: MINUTE_MS });
});

const accept = async (message: InboundMessage): Promise<InboundMessage> => {
  expect((await inbox.accept(conversation, message)).result).toBe('new');
  return message;
};

/**
 * The inbox entries, claimed or waiting, with their order in the chat (undefined for a command) and their sequence number.
 */
async function entries(): Promise<{ deliveryId: string; order: number | undefined; seq: number }[]> {
  const lines = await server.redis.lrange(conversationKeys(conversation).inbox, 0, -1);
  return lines.map((line) => {
    const opened = openEntry(keyRing, line);
    if (opened.kind !== 'opened') throw new Error('an entry does not open');
    const { deliveryId, seq, message } = opened.value;
    return { deliveryId, order: message.chatOrder, seq };
  });
}

type Step = { does: 'arrives'; order: number | undefined; word: boolean } | { does: 'begins' } | { does: 'ends' };

test('waiting messages follow the order of the chat for any order of delivery, and a claimed turn keeps its place [in-order]', async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ does: fc.constant('arrives'), order: fc.nat(30), word: fc.boolean() }) },
    { weight: 1, arbitrary: fc.constant({ does: 'arrives', order: undefined, word: true }) },
    { weight: 1, arbitrary: fc.constant({ does: 'begins' }) },
    { weight: 1, arbitrary: fc.constant({ does: 'ends' }) },
  ) as fc.Arbitrary<Step>;
  const run = async (steps: Step[]) => {
    await server.redis.flushall();
    let claim: Awaited<ReturnType<typeof store.begin>>;
    const expected = new Set<string>();
    for (const one of steps) {
      const before = await entries();
      if (one.does === 'begins') claim = (await store.begin(conversation)) ?? undefined;
      if (one.does === 'ends' && claim) {
        for (const { deliveryId } of claim.messages) expected.delete(deliveryId);
        await store.commit(claim, { outcome: 'final', records: [] });
        claim = undefined;
      }
      if (one.does !== 'arrives') continue;
      const message = await accept(
        textMessage(one.word ? '/help' : 'a question', { chat: channel, chatOrder: one.order }),
      );
      expected.add(deliveryIdOf(message));
      const all = await entries();
      const begun = claim?.messages.length ?? 0;
      expect(all.slice(0, begun)).toEqual(before.slice(0, begun));
      expect(new Set(all.map(({ deliveryId }) => deliveryId))).toEqual(expected);
      expect(all).toHaveLength(expected.size);
      const orders = all.slice(begun).flatMap(({ order }) => order ?? []);
      expect(orders).toEqual(orders.toSorted((one, other) => one - other));
      const seqs = all.map(({ seq }) => seq);
      expect(seqs).toEqual(seqs.toSorted((one, other) => one - other));
      // Entries without a chat order keep the order of arrival.
      const kept = (of: typeof all, order: number | undefined) =>
        of.filter((entry) => entry.order === order).map(({ deliveryId }) => deliveryId);
      expect(kept(all, undefined).slice(0, kept(before, undefined).length)).toEqual(kept(before, undefined));
    }
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), run), { numRuns: tries(40) });
}, 60_000);

test('a waiting stop word ends an earlier message that is delivered after it, but no later message [in-order]', async () => {
  await accept(textMessage('/stop', { chat: channel, chatOrder: 20 }));
  const late = await accept(textMessage('said before', { chat: channel, chatOrder: 10 }));
  await accept(textMessage('said behind', { chat: channel, chatOrder: 30 }));
  const claim = await store.begin(conversation);
  expect(claim?.messages.map(({ deliveryId }) => deliveryId)).toEqual([deliveryIdOf(late)]);
  const [first, stop, behind] = await entries();
  expect(stop?.seq).toBe(claim?.stop.seq);
  expect([first?.order, stop?.order, behind?.order]).toEqual([10, 20, 30]);
});

test('a stop word that ended the answer above its thread is served even when an earlier message moves ahead of it [in-order]', async () => {
  const opener = textMessage('a question', { chat: channel });
  await inbox.accept(conversationOf(opener, 'member'), opener);
  const thread = { ...channel, threadId: opener.messageId };
  const inThread = conversationOf(textMessage('x', { chat: thread }), 'member');
  const stop = textMessage('/stop', { chat: thread, threadBegunBy: opener.messageId, chatOrder: 20 });
  await inbox.accept(inThread, stop);
  await inbox.accept(inThread, textMessage('/help', { chat: thread, chatOrder: 10 }));
  const help = await store.begin(inThread);
  if (help) await store.commit(help, { outcome: 'final', records: [] });
  const own = await store.begin(inThread);
  expect(own?.turnId).toBe(deliveryIdOf(stop));
  expect(own?.stop.servedSeq).toBe(own?.messages[0]?.seq);
});
