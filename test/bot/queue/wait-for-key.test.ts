import { expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { MINUTE_MS } from '../../../src/shared/clock.ts';
import { KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { conversationKeys, pendingKey } from '../../../src/bot/domain/partition-keys.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import type { TurnCommit, TurnClaim } from '../../../src/bot/domain/turn.ts';
import { storeNotice, openNotices } from '../../../src/bot/reply/notices.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';
import { alterEntry } from '../../support/alter-entry.ts';
import { textMessage } from '../../support/messages.ts';
import { until, useWorkerFixture } from './worker-fixture.ts';

const fixture = useWorkerFixture();
const [keyA, keyB] = [randomBytes(32), randomBytes(32)];
/** Key rings before, during and after a key rotation. */
const [former, both, newer] = [new KeyRing([keyA]), new KeyRing([keyB, keyA]), new KeyRing([keyB])];
const FINAL: TurnCommit = { outcome: 'final', records: [] };
const alice = conversationOf(textMessage('x'), 'member');
const keys = conversationKeys(alice);
const partsOn = (keyRing: KeyRing) => ({
  redis: fixture.server.redis,
  keyRing,
  nowMs: Date.now,
  historyLifeMs: MINUTE_MS,
});
const storeOf = (keyRing: KeyRing) => new DyingWorkersStore(partsOn(keyRing));
const accept = (keyRing: KeyRing, text: string) => new Inbox(partsOn(keyRing)).accept(alice, textMessage(text));
const textsOf = (claim: TurnClaim | undefined) =>
  claim?.messages.map(({ message }) => message.parts.map((part) => (part.type === 'text' ? part.text : '')).join());
const errorOf = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);
async function answer(keyRing: KeyRing): Promise<string[] | undefined> {
  const claim = await storeOf(keyRing).begin(alice);
  if (claim) await storeOf(keyRing).commit(claim, FINAL);
  return textsOf(claim);
}

test('a message encrypted with a missing key stays unclaimed and due, and is answered once the key is available', async () => {
  await accept(former, 'asked before');
  for (let tries = 0; tries < 7; tries += 1)
    expect(await errorOf(storeOf(newer).begin(alice))).toMatchObject({
      code: 'key_missing',
      keyId: former.currentKeyId,
    });
  expect(await fixture.server.redis.hgetall(keys.state)).not.toHaveProperty('epoch');
  expect(await fixture.server.redis.zscore(pendingKey(alice.partition), alice.id)).not.toBeNull();
  const claim = await storeOf(both).begin(alice);
  expect(textsOf(claim)).toEqual(['asked before']);
  expect(claim).toMatchObject({ crashes: 0, unreadable: [] });
});

test('a worker without the key neither disturbs the turn of a worker with it nor counts a crash', async () => {
  await accept(newer, 'q');
  const store = storeOf(newer);
  const claim = await store.begin(alice);
  expect(await errorOf(storeOf(former).begin(alice))).toMatchObject({ code: 'key_missing' });
  expect(claim && (await store.renew(claim))).toBeDefined();
  expect(claim && (await store.commit(claim, FINAL))).toBe(0);
});

test('mergeable messages form one turn only when one worker can decrypt all of them', async () => {
  await accept(former, 'by the old receiver');
  await accept(newer, 'by the new one');
  expect(await answer(former)).toEqual(['by the old receiver']);
  expect(await answer(both)).toEqual(['by the new one']);
  await accept(former, 'old');
  await accept(newer, 'new');
  expect(await answer(both)).toEqual(['old', 'new']);
});

test('after five minutes without a key readable messages are answered, and the others once the key is back', async () => {
  const { redis } = fixture.server;
  await accept(former, 'locked one');
  await accept(former, 'locked two');
  await accept(newer, 'open');
  expect(await errorOf(storeOf(newer).begin(alice))).toMatchObject({ code: 'key_missing' });
  const [wait = '', since = ''] = /^(.*:)(\d+)$/.exec((await redis.hget(keys.state, 'keyless')) ?? '')?.slice(1) ?? [];
  await redis.hset(keys.state, 'keyless', wait + String(Number(since) - 5 * MINUTE_MS));
  expect(await answer(newer)).toEqual(['open']);
  expect(await errorOf(storeOf(newer).begin(alice))).toMatchObject({ code: 'key_missing' });
  // From now on the undecryptable messages no longer hold up others.
  await accept(newer, 'open too');
  expect(await answer(newer)).toEqual(['open too']);
  expect(await answer(both)).toEqual(['locked one', 'locked two']);
  expect(await storeOf(newer).begin(alice)).toBeUndefined();
});

test.each([
  ['encrypted with a removed key', (claim: TurnClaim) => storeOf(both).storeAnswer(claim, 'the answer')],
  [
    'that was altered',
    async (claim: TurnClaim) => {
      await storeOf(former).storeAnswer(claim, 'the answer');
      const sealed = (await fixture.server.redis.hget(keys.state, 'answer')) ?? '';
      await fixture.server.redis.hset(keys.state, 'answer', `${sealed.slice(0, -2)}AA`);
    },
  ],
])('a stored answer %s is discarded and the question is answered again', async (_, storeUnreadable) => {
  await accept(former, 'q');
  const store = storeOf(former);
  const first = await store.begin(alice);
  if (first) await storeUnreadable(first);
  const claim = await store.begin(alice);
  expect(textsOf(claim)).toEqual(['q']);
  expect(claim).toMatchObject({ isAnswerLost: true });
  expect(claim?.storedAnswer).toBeUndefined();
});

test('a worker counts conversations that wait for a key, names the setting, and clears the warning once they are answered', async () => {
  await accept(former, 'q');
  await fixture.wakeQueue.wake(alice);
  const without = fixture.startWorker(async () => FINAL, { store: storeOf(newer) });
  await until(() => fixture.reported.includes('keyless 1'));
  expect(without.missingKeys.sentence()).toMatch(/1 conversations wait for key .* SECRET_KEY_PREVIOUS/);
  expect(fixture.reported.filter((line) => /dead|failed|resumed/.test(line))).toEqual([]);
  expect(await answer(both)).toEqual(['q']);
  await accept(newer, 'and then?');
  await fixture.wakeQueue.wake(alice);
  await until(() => without.missingKeys.sentence() === undefined);
});

test('a notice under another key is kept for a worker with that key, and shown notices are deleted at any position', async () => {
  const { redis } = fixture.server;
  for (const [ring, text] of [
    [newer, 'under the new key'],
    [former, 'under the old key'],
    [former, 'altered'],
  ] as const)
    await storeNotice(redis, ring, { conversation: alice, text });
  await alterEntry(redis, keys.notices);
  await accept(former, 'q');
  const store = storeOf(former);
  const claim = await store.begin(alice);
  const { texts, done } = openNotices(former, alice, claim?.notices ?? []);
  expect(texts).toEqual(['under the old key']);
  if (claim) await store.commit(claim, { ...FINAL, noticesShown: done });
  expect(openNotices(both, alice, await redis.lrange(keys.notices, 0, -1)).texts).toEqual(['under the new key']);
});
