import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ChatRateLimiter } from '../../../../src/bot/platforms/wecom/connection/chat-pace.ts';
import { Lease, LEASE_MS } from '../../../../src/bot/platforms/wecom/connection/lease.ts';
import { readFrame } from '../../../../src/bot/platforms/wecom/connection/read-frame.ts';
import { ReplyPlaces, type ReplyPlace } from '../../../../src/bot/platforms/wecom/connection/reply-places.ts';
import { anyText } from '../../../support/any-text.ts';
import { testKeyRing } from '../../../support/messages.ts';
import { useTestRedis } from '../../../support/use-test-redis.ts';
import { tries } from '../../../support/tries.ts';
import { measureProcessorTime } from '../../../support/processor-time.ts';

const server = useTestRedis();
const placesOf = (botId = 'bot') => new ReplyPlaces(server.redis, testKeyRing(), botId);
const PLACE: ReplyPlace = {
  ...{ version: 1, reqId: 'request', streamId: 'stream', userId: 'alice' },
  chat: { kind: 'private', id: 'alice' },
};

test('grants the lease to one process, and to the next with a higher number after its release or expiry', async () => {
  const { leaseKey } = placesOf('lease');
  const [first, second] = [new Lease(server.redis, leaseKey), new Lease(server.redis, leaseKey)];
  const held = await first.tryAcquire();
  expect(await second.tryAcquire()).toBeUndefined();
  expect(held?.isCertain()).toBe(true);
  expect(await held?.markOpen()).toBeLessThan(500);
  // The holder has been silent for too long.
  await server.redis.hset(leaseKey, 'untilMs', Date.now() - 1);
  const taken = await second.tryAcquire();
  expect(taken?.number).toBe((held?.number ?? 0) + 1);
  expect(await taken?.markOpen()).toBeGreaterThanOrEqual(LEASE_MS - 500);
  await held?.lost;
  expect(held?.isCertain()).toBe(false);
  // A former holder cannot release the lease.
  expect(await held?.release()).toBe(0);
  expect(await first.tryAcquire()).toBeUndefined();
  await taken?.release();
  const again = await first.tryAcquire();
  expect(again?.number).toBe((taken?.number ?? 0) + 1);
  await again?.release();
});

test('grants a released lease to a waiting process at once', async () => {
  const { leaseKey } = placesOf('waited');
  const held = await new Lease(server.redis, leaseKey).tryAcquire();
  const waiting = new Lease(server.redis, leaseKey).acquire(AbortSignal.timeout(10_000));
  await new Promise((resolve) => setTimeout(resolve, 300));
  const releasedMs = performance.now();
  expect(await held?.release()).toBe(1);
  const gained = await waiting;
  expect(performance.now() - releasedMs).toBeLessThan(LEASE_MS / 2);
  await gained.release();
});

test('lets a push leave once across lease holders unless it is withdrawn, and none from a former holder', async () => {
  const places = placesOf('push');
  const first = await new Lease(server.redis, places.leaseKey).tryAcquire();
  const old = first?.number ?? 0;
  expect(await places.beginPush('a', old)).toBe('push');
  await places.withdrawPush('a', old);
  expect(await places.beginPush('a', old)).toBe('push');
  await places.markPushSent('a', old);
  expect(await places.beginPush('c', old)).toBe('push');
  await first?.release();
  const second = await new Lease(server.redis, places.leaseKey).tryAcquire();
  const number = second?.number ?? 0;
  expect(await places.beginPush('a', number)).toBe('left');
  expect(await places.beginPush('a', old)).toBe('stale');
  expect(await places.beginPush('b', number)).toBe('push');
  // The first holder only began it. What it notes later has no effect.
  expect(await places.beginPush('c', number)).toBe('push');
  await places.withdrawPush('c', old);
  await places.markPushSent('c', number);
  await second?.release();
  const third = await new Lease(server.redis, places.leaseKey).tryAcquire();
  expect(await places.beginPush('c', third?.number ?? 0)).toBe('left');
  await third?.release();
});

test('keeps reply places across lease holders, separately per bot and encrypted in Redis', async () => {
  const places = placesOf('places');
  expect(await places.open('a', { ...PLACE, text: 'the secret words' }, false)).toBe('open');
  expect(await places.open('a', { ...PLACE, reqId: 'other' }, false)).toBe('known');
  const [found] = await places.all();
  expect(found).toMatchObject({ id: 'a', place: { reqId: 'request', text: 'the secret words' } });
  expect(found?.ageMs).toBeLessThan(5_000);
  expect(await placesOf('another').all()).toEqual([]);
  for (const key of await server.redis.keys('*replies'))
    expect(JSON.stringify(await server.redis.hgetall(key))).not.toMatch(/secret words|alice|request/);
  await places.end('a', 'sent');
  expect(await places.open('a', PLACE, false)).toBe('sent');
});

test('reads any frame of the connection without an exception, in linear time', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      expect(['callback', 'answer', 'unknown']).toContain(readFrame(text).kind);
    }),
  );
  const long = `{"cmd":"aibot_msg_callback","headers":{"req_id":"r"},"body":{"text":"${'\u0001['.repeat(200_000)}"}}`;
  const spentMs = measureProcessorTime();
  expect(readFrame(long)).toMatchObject({ kind: 'callback', reqId: 'r' });
  expect(spentMs()).toBeLessThan(2_000);
});

test('keeps each conversation within WeCom’s limits per minute and hour, independently of the others', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ chat: fc.constantFrom('a', 'b'), afterMs: fc.nat(4_000) }), {
        minLength: 40,
        maxLength: 400,
      }),
      (said) => {
        let nowMs = 0;
        const pace = new ChatRateLimiter(() => nowMs);
        const left: Record<string, number[]> = { a: [], b: [] };
        for (const { chat, afterMs } of said) {
          nowMs += afterMs;
          const waitMs = pace.tryAcquire(chat, 'begins');
          if (waitMs > 0) {
            // Refused only because the limit is reached.
            expect(left[chat]?.filter((atMs) => nowMs - atMs < 61_000).length).toBeGreaterThanOrEqual(30);
            continue;
          }
          left[chat]?.push(nowMs);
        }
        for (const times of Object.values(left))
          for (const [index, atMs] of times.entries())
            expect(atMs - (times[index - 30] ?? -Infinity)).toBeGreaterThan(60_000);
      },
    ),
    { numRuns: tries(200) },
  );
});

test('counts snapshots towards the limit of a conversation from its first refusal on, and reserves room for whole answers', () => {
  let nowMs = 0;
  const pace = new ChatRateLimiter(() => nowMs);
  for (let count = 0; count < 100; count += 1) expect(pace.tryAcquire('a', 'snapshot')).toBe(0);
  pace.recordRefusal('a');
  for (let count = 0; count < 100; count += 1) expect(pace.tryAcquire('b', 'snapshot')).toBe(0);
  let snapshots = 0;
  while (pace.tryAcquire('a', 'snapshot') === 0) snapshots += 1;
  expect(snapshots).toBeLessThan(30);
  expect(pace.tryAcquire('a', 'whole')).toBe(0);
  nowMs += 62_000;
  expect(pace.tryAcquire('a', 'snapshot')).toBe(0);
});
