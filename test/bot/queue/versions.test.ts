import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { MINUTE_MS } from '../../../src/shared/clock.ts';
import { conversationKeys, pendingKey } from '../../../src/bot/domain/partition-keys.ts';
import { conversationOf, deliveryIdOf } from '../../../src/bot/domain/conversation.ts';
import type { InboundMessage } from '../../../src/bot/domain/message.ts';
import { asPersonId } from '../../../src/bot/domain/ids.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { EntryError, mergeKeyOf } from '../../../src/bot/queue/inbox-entry.ts';
import type { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { formatStoredAnswer, readStoredAnswer } from '../../../src/bot/turn/stored-answer.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';

const keyRing = testKeyRing();
const alice = conversationOf(textMessage('x'), 'member');
const keys = conversationKeys(alice);
const server = useTestRedis();
let store: TurnStore;
const nowMs = () => 1_800_000_000_000;

beforeAll(async () => {
  store = new DyingWorkersStore({ redis: server.redis, keyRing, nowMs, historyLifeMs: MINUTE_MS });
});
beforeEach(async () => {
  await server.redis.flushall();
});

/** Stores a message of version 2 as a newer receiver would; it merges only with its own version. */
async function acceptNewer(): Promise<InboundMessage> {
  const message = { ...textMessage('from the future'), version: 2 as unknown as 1 };
  await new Inbox({ redis: server.redis, keyRing }).accept(alice, message);
  const [entry = ''] = await server.redis.lrange(keys.inbox, -1, -1);
  await server.redis.lset(keys.inbox, -1, entry.replace(/^([0-9a-f]+):1\./, '$1:2.'));
  return message;
}
const accept = (text: string) => new Inbox({ redis: server.redis, keyRing }).accept(alice, textMessage(text));

test('a message of an unknown version stays pending and unharmed, however often an older worker tries [versioned-payloads]', async () => {
  const message = await acceptNewer();
  for (let tries = 0; tries < 7; tries += 1) {
    const refused = await store.begin(alice).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(EntryError);
    expect((refused as EntryError).code).toBe('entry_unknown_version');
  }
  expect(await server.redis.llen(keys.inbox)).toBe(1);
  expect(await server.redis.zscore(pendingKey(alice.partition), alice.id)).not.toBeNull();
  const state = await server.redis.hgetall(keys.state);
  expect(state).toMatchObject({ turn: deliveryIdOf(message) });
  expect(state).not.toHaveProperty('running');
  // A newer worker, which can read it, finds no crash: waiting does not count as one.
  expect(state['crashes']).toBe('0');
});

test('an older worker answers messages before an unknown version; later ones wait behind it in order [versioned-payloads]', async () => {
  await accept('known');
  await acceptNewer();
  await accept('known again');
  const claim = await store.begin(alice);
  expect(claim?.messages).toHaveLength(1);
  expect(claim && (await store.commit(claim, { outcome: 'final', records: [] }))).toBe(2);
  await expect(store.begin(alice)).rejects.toThrow(EntryError);
  expect(await server.redis.llen(keys.inbox)).toBe(2);
});

test('an entry of an unknown format waits too [versioned-payloads]', async () => {
  await accept('q');
  await server.redis.lset(keys.inbox, 0, 'abc:-:another form');
  await expect(store.begin(alice)).rejects.toMatchObject({ code: 'entry_unreadable' });
  expect(await server.redis.llen(keys.inbox)).toBe(1);
});

test('messages of two versions are never merged into one turn [versioned-payloads]', () => {
  expect(mergeKeyOf(textMessage('q'), asPersonId('person'))).toBe('1.person');
  expect(mergeKeyOf(textMessage('/help'), asPersonId('person'))).toBe('-');
});

test('a finished answer stored by a newer or older worker is shown instead of asking the model again [never-joined]', () => {
  const outcome = { kind: 'interrupted', text: 'half', stopServed: 3 } as const;
  expect(readStoredAnswer(formatStoredAnswer(outcome))).toEqual(outcome);
  expect(readStoredAnswer(JSON.stringify({ version: 2, text: 'whole', layout: {} }))).toEqual({
    kind: 'answered',
    text: 'whole',
  });
  for (const text of ['plain words', '{"not": "ours"}', '42', 'null'])
    expect(readStoredAnswer(text)).toEqual({ kind: 'answered', text });
});
