import { expect, test } from '@jest/globals';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { MINUTE_MS, SECOND_MS } from '../../../src/shared/clock.ts';
import { REPLY_TEXTS } from '../../../src/bot/i18n/reply-texts.ts';
import { usePulledFixture, type PulledTurn } from './pulled-fixture.ts';
import { tries } from '../../support/tries.ts';

const ANSWER = 'The answer to all of them.';
const fixture = usePulledFixture();

/** Polls the oldest message until it shows a text. */
async function seen({ poll }: Pick<PulledTurn, 'poll'>, text: string): Promise<void> {
  while ((await poll(0)).content !== text) await new Promise((resolve) => setTimeout(resolve, 10));
}

test('an older merged message points below once the newest one is polled, and waits for that poll while it may come', async () => {
  const { live, poll, finish } = await fixture.open([2 * SECOND_MS, SECOND_MS]);
  live.show({ text: 'The' });
  await endOfTurn();
  await live.close();
  expect(await poll(0)).toMatchObject({ content: '', finished: false });
  await finish(ANSWER);
  expect(await poll(0)).toMatchObject({ content: '', finished: false });
  expect(await poll(1)).toMatchObject({ content: ANSWER, finished: true });
  expect(await poll(0)).toMatchObject({ content: REPLY_TEXTS.answeredBelow.en, finished: true });
});

test('a message counts as answered once a poll has shown its whole answer, and an older one only together with it [failover]', async () => {
  const { live, poll, repeat, finish, seenWhole } = await fixture.open([2 * SECOND_MS, SECOND_MS]);
  live.show({ text: 'The' });
  await endOfTurn();
  await live.close();
  await poll(0);
  await poll(1);
  // It is polled as long as a failover can separate it from the newer message and make it its own turn.
  expect(await poll(0)).toMatchObject({ content: '', finished: false });
  await finish(ANSWER);
  await repeat(1);
  await poll(1, 'somebody-else');
  expect([...seenWhole]).toEqual([]);
  await poll(0);
  await poll(1);
  expect([...seenWhole]).toEqual([0, 1]);
});

test('an older merged message points below at its time limit although the answer still grows there', async () => {
  const { live, poll, seenWhole } = await fixture.open([6 * MINUTE_MS, SECOND_MS]);
  live.show({ text: 'The' });
  await endOfTurn();
  await live.close();
  await poll(1);
  expect(await poll(0)).toMatchObject({ finished: true });
  expect([...seenWhole]).toEqual([]);
});

test('an answer that is no longer polled after a failover is not sent by response_url [failover]', async () => {
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
  await seen.finish(ANSWER);
  expect(fixture.postedLater).toEqual([]);

  const polled = await fixture.open([7 * MINUTE_MS]);
  await again(polled, 6 * MINUTE_MS, MINUTE_MS);
  await polled.poll();
  await polled.finish(ANSWER);
  expect(fixture.postedLater).toEqual([ANSWER]);

  // Its polls had ended by then.
  const old = await fixture.open([10 * MINUTE_MS]);
  await again(old, MINUTE_MS, 9 * MINUTE_MS);
  await old.finish(ANSWER);
  expect(fixture.postedLater).toEqual([ANSWER]);
});

test('an answer sent by response_url does not count as seen by the poll that announces it [failover]', async () => {
  const { poll, finish, pass, seenWhole } = await fixture.open();
  await pass(6 * MINUTE_MS);
  await poll();
  await finish(ANSWER);
  expect(await poll()).toMatchObject({ finished: true });
  expect([...seenWhole]).toEqual([]);
});

test('the answer is shown in the older message when the platform never learned of the newer one [worker-killed]', async () => {
  const { live, poll, finish, pass } = await fixture.open([2 * SECOND_MS, SECOND_MS]);
  await pass(20 * SECOND_MS);
  live.show({ text: 'The' });
  await endOfTurn();
  await live.close();
  expect(await poll(0)).toMatchObject({ content: 'The', finished: false });
  await finish(ANSWER);
  expect(await poll(0)).toMatchObject({ content: ANSWER, finished: true });
  expect(await poll(1)).toMatchObject({ content: REPLY_TEXTS.answeredAbove.en, finished: true });
});

test('the answer is shown in the older message when the newer one was redelivered but never polled [worker-killed]', async () => {
  const { live, poll, repeat, finish, pass } = await fixture.open([2 * SECOND_MS, SECOND_MS]);
  live.show({ text: 'The' });
  await endOfTurn();
  await live.close();
  expect(await repeat(1)).toMatchObject({ content: 'The', finished: false });
  await pass(20 * SECOND_MS);
  await finish(ANSWER);
  expect(await repeat(1)).toMatchObject({ content: ANSWER, finished: true });
  expect(await poll(0)).toMatchObject({ content: ANSWER, finished: true });
});

test('a redelivery of the older message does not change where the answer is shown [worker-killed]', async () => {
  const { poll, repeat, finish, pass } = await fixture.open([2 * SECOND_MS, SECOND_MS]);
  await finish(ANSWER);
  await pass(20 * SECOND_MS);
  expect(await repeat(0)).toMatchObject({ content: '', finished: false });
  expect(await poll(1)).toMatchObject({ content: ANSWER, finished: true });
  expect(await repeat(0)).toMatchObject({ content: REPLY_TEXTS.answeredBelow.en, finished: true });
  expect(await poll(0)).toMatchObject({ content: REPLY_TEXTS.answeredBelow.en, finished: true });
});

test('an answer shown in an older message goes by response_url before that message can no longer grow', async () => {
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

test('a poll is answered although Redis refuses writes, and ends only once it is recorded as seen', async () => {
  const { poll, finish, pass } = await fixture.open([SECOND_MS, 0]);
  await finish(ANSWER);
  await fixture.server.redis.config('SET', 'maxmemory', '1');
  try {
    expect(await poll(1)).toMatchObject({ content: ANSWER, finished: false });
  } finally {
    await fixture.server.redis.config('SET', 'maxmemory', '0');
  }
  expect(await poll(1)).toMatchObject({ content: ANSWER, finished: true });
  // Otherwise the newest message would count as never polled, and the answer would be shown in the older one as well.
  await pass(30 * SECOND_MS);
  expect(await poll(0)).toMatchObject({ content: REPLY_TEXTS.answeredBelow.en, finished: true });
});

test('property: exactly one merged message shows the answer and each polled one ends once, for any polls and redeliveries', async () => {
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
    { numRuns: tries(40) },
  );
}, 120_000);
