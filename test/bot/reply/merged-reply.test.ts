import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MINUTE_MS, SECOND_MS } from '../../../src/shared/clock.ts';
import { REPLY_TEXTS } from '../../../src/bot/i18n/reply-texts.ts';
import { usePulledFixture, type PulledTurn } from './pulled-fixture.ts';

const ANSWER = 'The answer to all of them.';
const fixture = usePulledFixture();

/** Polls the oldest message until it shows a text. */
async function seen({ poll }: Pick<PulledTurn, 'poll'>, text: string): Promise<void> {
  while ((await poll(0)).content !== text) await new Promise((resolve) => setTimeout(resolve, 10));
}

test('a merged message points below once somebody polls the newest, and waits for that as long as it may come', async () => {
  const { live, poll, finish } = await fixture.open([2 * SECOND_MS, SECOND_MS]);
  live.show({ text: 'The' });
  await live.close();
  expect(await poll(0)).toMatchObject({ content: '', finished: false });
  await finish(ANSWER);
  expect(await poll(0)).toMatchObject({ content: '', finished: false });
  expect(await poll(1)).toMatchObject({ content: ANSWER, finished: true });
  expect(await poll(0)).toMatchObject({ content: REPLY_TEXTS.answeredBelow.en, finished: true });
});

test('a message counts as answered for good once a poll has shown its answer whole, and one that points below not before [failover]', async () => {
  const { live, poll, repeat, finish, seenWhole } = await fixture.open([2 * SECOND_MS, SECOND_MS]);
  live.show({ text: 'The' });
  await live.close();
  await poll(0);
  await poll(1);
  // It is polled for as long as a failover can part it from the newer one, and make it a turn of its own.
  expect(await poll(0)).toMatchObject({ content: '', finished: false });
  await finish(ANSWER);
  await repeat(1);
  await poll(1, 'somebody-else');
  expect([...seenWhole]).toEqual([]);
  await poll(0);
  await poll(1);
  expect([...seenWhole]).toEqual([0, 1]);
});

test('a merged message whose time is over points below although the answer still grows there', async () => {
  const { live, poll, seenWhole } = await fixture.open([6 * MINUTE_MS, SECOND_MS]);
  live.show({ text: 'The' });
  await live.close();
  await poll(1);
  expect(await poll(0)).toMatchObject({ finished: true });
  expect([...seenWhole]).toEqual([]);
});

test('an answer that nobody polls any more since a failover is not sent the other way [failover]', async () => {
  const again = async ({ keyOf }: PulledTurn, agoMs: number, cameBeforeMs: number) => {
    const nowMs = Date.now();
    await fixture.server.redis.hset(keyOf(0), {
      again: '1',
      againMs: nowMs - agoMs,
      atMs: nowMs - agoMs - cameBeforeMs,
    });
  };
  const seen = await fixture.open([7 * MINUTE_MS]);
  await again(seen, 6 * MINUTE_MS, MINUTE_MS);
  expect(await seen.live.findWhole()).toBeDefined();
  await seen.finish(ANSWER);
  expect(fixture.postedLater).toEqual([]);

  const polled = await fixture.open([7 * MINUTE_MS]);
  await again(polled, 6 * MINUTE_MS, MINUTE_MS);
  await polled.poll();
  expect(await polled.live.findWhole()).toBeUndefined();
  await polled.finish(ANSWER);
  expect(fixture.postedLater).toEqual([ANSWER]);

  // Its polls were over by then.
  const old = await fixture.open([10 * MINUTE_MS]);
  await again(old, MINUTE_MS, 9 * MINUTE_MS);
  await old.finish(ANSWER);
  expect(fixture.postedLater).toEqual([ANSWER]);
  // It may still be polled.
  const young = await fixture.open();
  await again(young, SECOND_MS, MINUTE_MS);
  expect(await young.live.findWhole()).toBeUndefined();
});

test('an answer that goes the other way is not seen by the poll that says so [failover]', async () => {
  const { poll, finish, pass, seenWhole } = await fixture.open();
  await pass(6 * MINUTE_MS);
  await poll();
  await finish(ANSWER);
  expect(await poll()).toMatchObject({ finished: true });
  expect([...seenWhole]).toEqual([]);
});

test('a newer message that the platform never heard of does not take the answer with it [worker-killed]', async () => {
  const { live, poll, finish, pass } = await fixture.open([2 * SECOND_MS, SECOND_MS]);
  await pass(20 * SECOND_MS);
  live.show({ text: 'The' });
  await live.close();
  expect(await poll(0)).toMatchObject({ content: 'The', finished: false });
  await finish(ANSWER);
  expect(await poll(0)).toMatchObject({ content: ANSWER, finished: true });
  expect(await poll(1)).toMatchObject({ content: REPLY_TEXTS.answeredAbove.en, finished: true });
});

test('a newer message that was delivered again and given up all the same does not take the answer with it [worker-killed]', async () => {
  const { live, poll, repeat, finish, pass } = await fixture.open([2 * SECOND_MS, SECOND_MS]);
  live.show({ text: 'The' });
  await live.close();
  expect(await repeat(1)).toMatchObject({ content: 'The', finished: false });
  await pass(20 * SECOND_MS);
  await finish(ANSWER);
  expect(await repeat(1)).toMatchObject({ content: ANSWER, finished: true });
  expect(await poll(0)).toMatchObject({ content: ANSWER, finished: true });
});

test('an older message that was delivered again decides nothing about where the answer stands [worker-killed]', async () => {
  const { poll, repeat, finish, pass } = await fixture.open([2 * SECOND_MS, SECOND_MS]);
  await finish(ANSWER);
  await pass(20 * SECOND_MS);
  expect(await repeat(0)).toMatchObject({ content: '', finished: false });
  expect(await poll(1)).toMatchObject({ content: ANSWER, finished: true });
  expect(await repeat(0)).toMatchObject({ content: REPLY_TEXTS.answeredBelow.en, finished: true });
  expect(await poll(0)).toMatchObject({ content: REPLY_TEXTS.answeredBelow.en, finished: true });
});

test('an answer shown in an older message goes the other way before that message cannot grow any more', async () => {
  const { live, poll, finish, pass } = await fixture.open([4 * MINUTE_MS, 0]);
  await pass(20 * SECOND_MS);
  live.show({ text: 'Slow' });
  await seen({ poll }, 'Slow');
  await pass(65 * SECOND_MS);
  expect(await poll(0)).toMatchObject({ finished: false });
  live.show({ text: 'Slowly' });
  await seen({ poll }, 'Slowly');
  await pass(5 * SECOND_MS);
  expect(await poll(0)).toMatchObject({ content: REPLY_TEXTS.followsBelow.en, finished: true });
  await finish(ANSWER);
  expect(fixture.postedLater).toEqual([ANSWER]);
});

test('a Redis that takes no writes keeps nobody from reading, and ends nothing that it cannot note as seen', async () => {
  const { poll, finish, pass } = await fixture.open([SECOND_MS, 0]);
  await finish(ANSWER);
  await fixture.server.redis.config('SET', 'maxmemory', '1');
  try {
    expect(await poll(1)).toMatchObject({ content: ANSWER, finished: false });
  } finally {
    await fixture.server.redis.config('SET', 'maxmemory', '0');
  }
  expect(await poll(1)).toMatchObject({ content: ANSWER, finished: true });
  // Else nobody seemed to look there, and the answer would be shown in the older message as well.
  await pass(30 * SECOND_MS);
  expect(await poll(0)).toMatchObject({ content: REPLY_TEXTS.answeredBelow.en, finished: true });
});

test('whichever of the merged messages are polled, from whenever on, and whichever are delivered again: one of them shows the answer, and each ends once', async () => {
  const seconds = (most: number) => fc.integer({ min: 0, max: most });
  const asked = fc.record({
    beforeSec: seconds(40),
    pollsFromSec: fc.option(seconds(60), { nil: undefined }),
    repeatedAtSec: fc.option(seconds(60), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { minLength: 2, maxLength: 4 }), seconds(50), async (messages, answeredAtSec) => {
      const sorted = messages.toSorted((one, other) => other.beforeSec - one.beforeSec);
      const { live, poll, repeat, finish, pass } = await fixture.open(
        sorted.map(({ beforeSec }) => beforeSec * SECOND_MS),
      );
      const ends = sorted.map((): string | undefined => undefined);
      for (let second = 0; second <= 90; second += 1) {
        if (second > 0) await pass(SECOND_MS);
        if (second === Math.floor(answeredAtSec / 2)) live.show({ text: 'The' });
        if (second === answeredAtSec) await finish(ANSWER);
        for (const [index, { pollsFromSec = Infinity, repeatedAtSec }] of sorted.entries()) {
          if (second === repeatedAtSec) await repeat(index);
          if (second < pollsFromSec || ends[index] !== undefined) continue;
          const { content, finished } = await poll(index);
          if (finished) ends[index] = content;
        }
      }
      const polled = sorted.map(({ pollsFromSec }) => pollsFromSec !== undefined);
      expect(ends.map((end) => end !== undefined)).toEqual(polled);
      expect(ends.filter((end) => end === ANSWER)).toHaveLength(polled.includes(true) ? 1 : 0);
    }),
    { numRuns: 40 },
  );
}, 120_000);
