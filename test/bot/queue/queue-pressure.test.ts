import { beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import { QueuePressure, type PressureLimits } from '../../../src/bot/queue/queue-pressure.ts';
import { ageMessages } from '../../support/age-messages.ts';
import { recordingLog } from '../../support/redis.ts';
import { messageOf, until, useWorkerFixture } from './worker-fixture.ts';
import { tries } from '../../support/tries.ts';

const LIMITS: PressureLimits = { softWaiting: 3, hardWaiting: 6, softAgeMs: 20_000, hardAgeMs: 300_000 };

describe('QueuePressure', () => {
  let nowMs: number;
  let waiting: number;
  let reads: number;
  let told: string[];
  beforeEach(() => {
    nowMs = 1_000_000;
    waiting = reads = 0;
    told = [];
  });
  const measure = (concurrency = 1) =>
    new QueuePressure({
      limits: LIMITS,
      concurrency,
      readWaiting: async () => {
        reads += 1;
        return waiting;
      },
      nowMs: () => nowMs,
      log: recordingLog().log,
      report: { pressureChanged: (event) => void told.push(`${event.pressure} ${event.waiting}`) },
    });
  /** Takes a wake, lets its turn run for a moment, and ends it. */
  const take = async (pressure: QueuePressure, dueForMs = 0) => {
    const wake = pressure.take(0);
    await sleep(0);
    const found = wake.pressure(dueForMs);
    wake.leave();
    return found;
  };

  test.each([
    [0, 'none'],
    [2, 'none'],
    [3, 'soft'],
    [5, 'soft'],
    [6, 'hard'],
    [600, 'hard'],
  ])('with %i waiting is %s [back-pressure]', async (count, expected) => {
    waiting = count;
    expect(await take(measure())).toBe(expected);
  });

  test.each([
    [19_999, 1, 'none'],
    [20_000, 1, 'soft'],
    [299_999, 1, 'soft'],
    [300_000, 1, 'hard'],
    [300_000, 0, 'none'],
  ])('after a wait of %i ms with %i more waiting is %s [back-pressure]', async (ageMs, count, expected) => {
    waiting = count;
    expect(await take(measure(), ageMs)).toBe(expected);
  });

  test('judges a turn by the length that its wake requested, and waits for it at most 0.1 s', async () => {
    waiting = 600;
    const answers: (() => void)[] = [];
    const late = new QueuePressure({
      limits: LIMITS,
      concurrency: 1,
      readWaiting: () => new Promise((resolve) => answers.push(() => resolve(waiting))),
      nowMs: () => nowMs,
      log: recordingLog().log,
      report: { pressureChanged: () => undefined },
    });
    const first = late.take(0);
    setTimeout(() => answers[0]?.(), 20);
    await first.reading;
    expect(first.pressure(0)).toBe('hard');
    first.leave();
    nowMs += 1_000;
    const second = late.take(0);
    await second.reading;
    expect(second.pressure(0)).toBe('hard');
    second.leave();
    expect(late.take(0).reading).toBeUndefined();
  });

  test('is none with a free slot, without reading the queue', async () => {
    waiting = 1_000;
    const pressure = measure(2);
    expect(await take(pressure, 600_000)).toBe('none');
    expect(reads).toBe(0);
    pressure.take(0);
    expect(await take(pressure)).toBe('hard');
    expect(reads).toBe(1);
  });

  test('reads the queue at most once a second, or ten times a second under pressure', async () => {
    const pressure = measure();
    waiting = 1;
    for (let count = 0; count < 50; count += 1) await take(pressure);
    expect(reads).toBe(1);
    nowMs += 1_000;
    waiting = 1_000;
    for (let count = 0; count < 50; count += 1) {
      await take(pressure);
      nowMs += 10;
    }
    expect(reads).toBeGreaterThanOrEqual(5);
    expect(reads).toBeLessThanOrEqual(7);
  });

  test('is none when the last reading is old or the queue cannot be read', async () => {
    let answers = 0;
    const pressure = new QueuePressure({
      limits: LIMITS,
      concurrency: 1,
      readWaiting: () => ((answers += 1) === 1 ? Promise.resolve(50) : Promise.reject(new Error('away'))),
      nowMs: () => nowMs,
      log: recordingLog().log,
      report: { pressureChanged: () => undefined },
    });
    expect(await take(pressure)).toBe('hard');
    nowMs += 6_000;
    expect(await take(pressure)).toBe('none');
  });

  test('discards a reading after the clock jumps back or forward [wrong-clocks]', async () => {
    for (const jumpMs of [-600_000, 600_000]) {
      const pressure = measure();
      waiting = 50;
      expect(await take(pressure)).toBe('hard');
      nowMs += jumpMs;
      waiting = 0;
      expect(await take(pressure)).toBe('none');
    }
  });

  test('rejects no more turns from one reading than exceed the limit', () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 1, max: 40 }), async (count, takes) => {
        nowMs += 60_000;
        waiting = count;
        const pressure = measure();
        let hard = 0;
        for (let taken = 0; taken < takes; taken += 1) if ((await take(pressure)) === 'hard') hard += 1;
        expect(hard).toBe(Math.min(takes, Math.max(0, count - LIMITS.hardWaiting + 1)));
      }),
      { numRuns: tries(60) },
    ));

  test('is reported when it rises, and 10 s after it has fallen', async () => {
    const pressure = measure();
    waiting = 50;
    await take(pressure);
    nowMs += 200;
    waiting = 0;
    await take(pressure);
    expect(told).toEqual(['hard 50']);
    nowMs += 10_000;
    await take(pressure);
    expect(told).toEqual(['hard 50', 'none 0']);
  });
});

describe('a worker under pressure', () => {
  const fixture = useWorkerFixture();
  let nowMs: number;
  let pressures: string[];
  let release: () => void;
  beforeEach(() => {
    nowMs = Date.now();
    pressures = [];
  });

  /** Fills the only slot with a first turn, and queues questions of more people behind it. */
  async function fillQueue(count: number): Promise<void> {
    const held = new Promise<void>((resolve) => (release = resolve));
    let isFirst = true;
    fixture.startWorker(
      async ({ pressure }) => {
        if (isFirst) {
          isFirst = false;
          return held.then(() => ({ outcome: 'final', records: [] }));
        }
        await sleep(30);
        pressures.push(pressure());
        return { outcome: 'final', records: [] };
      },
      { concurrency: 1, pressure: LIMITS, nowMs: () => nowMs },
    );
    await fixture.send(messageOf('first', 'a long one'));
    await until(() => !isFirst);
    for (let number = 0; number < count; number += 1) await fixture.send(messageOf(`p${number}`, 'a question'));
    // The reading made for the first turn is outdated now.
    nowMs += 2_000;
  }

  test('gives each turn the pressure of the whole deployment until the queue is empty [back-pressure]', async () => {
    await fillQueue(10);
    release();
    await until(() => pressures.length === 10);
    const { length: hard } = pressures.filter((pressure) => pressure === 'hard');
    expect(hard).toBe(4);
    expect(pressures).toEqual([...Array(4).fill('hard'), ...Array(3).fill('soft'), ...Array(3).fill('none')]);
    expect(fixture.reported.filter((line) => line.startsWith('pressure'))).toEqual(['pressure hard']);
  });

  test('rejects a turn that waited beyond the limit, but not the last one in the queue [back-pressure]', async () => {
    await fillQueue(2);
    await ageMessages(fixture.server.redis, 301_000);
    release();
    await until(() => pressures.length === 2);
    expect(pressures).toEqual(['hard', 'none']);
  });

  test('rejects no fresh question when its clock is six minutes ahead', async () => {
    nowMs += 360_000;
    await fillQueue(2);
    release();
    await until(() => pressures.length === 2);
    expect(pressures).toEqual(['none', 'none']);
  });

  test('never rejects a turn that another worker had begun [back-pressure]', async () => {
    const message = messageOf('first', 'taken up already');
    const conversation = conversationOf(message, 'member');
    await fixture.inbox.accept(conversation, message);
    expect((await fixture.store.begin(conversation))?.wasBegun).toBe(false);
    expect((await fixture.store.begin(conversation))?.wasBegun).toBe(true);
    let found: string | undefined;
    const limits = { ...LIMITS, softWaiting: 1, hardWaiting: 1 };
    for (let number = 0; number < 3; number += 1) await fixture.send(messageOf(`p${number}`, 'a question'));
    await fixture.wakeQueue.wake(conversation);
    for (let number = 3; number < 6; number += 1) await fixture.send(messageOf(`p${number}`, 'a question'));
    fixture.startWorker(
      async ({ pressure, claim }) => {
        await sleep(30);
        if (claim.conversation.id === conversation.id) found = pressure();
        else pressures.push(pressure());
        return { outcome: 'final', records: [] };
      },
      { concurrency: 1, pressure: limits },
    );
    await until(() => pressures.length === 6 && found !== undefined);
    expect(found).toBe('none');
    expect(pressures.filter((pressure) => pressure === 'hard')).toHaveLength(5);
  });
});
