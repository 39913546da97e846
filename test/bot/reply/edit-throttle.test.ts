import { afterEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';
import { EditThrottle } from '../../../src/bot/reply/edit-throttle.ts';
import { tries } from '../../support/tries.ts';
import { untilTrue } from '../../support/until-true.ts';

const GAP_MS = 60;
let pacer: EditThrottle | undefined;
afterEach(() => pacer?.close());

/** A throttle whose writes are recorded with their times. @param writeMs how long a write takes; 0 for no time at all */
function paced(write: (text: string) => number | undefined = () => undefined, writeMs = 1) {
  const written: { text: string; atMs: number }[] = [];
  pacer = new EditThrottle({
    onError: () => undefined,
    minGapMs: GAP_MS,
    nowMs: () => performance.now(),
    write: async ({ text }) => {
      written.push({ text, atMs: performance.now() });
      if (writeMs > 0) await sleep(writeMs);
      return write(text);
    },
  });
  return { pacer, written };
}

test('once text is shown, a snapshot is read only when it is written, so that a token costs no rendering', async () => {
  const { pacer, written } = paced();
  let reads = 0;
  const show = (text: string) =>
    pacer.show({
      get text() {
        reads += 1;
        return text;
      },
    });
  show('the');
  await untilTrue(() => written.length === 1);
  const readsBefore = reads;
  for (let word = 0; word < 100; word += 1) show(`the words ${word}`);
  // The first of them begins the wait for its write.
  expect(reads - readsBefore).toBeLessThanOrEqual(1);
  await untilTrue(() => written.length === 2);
  expect(written.at(-1)?.text).toBe('the words 99');
});

test('combines many snapshots into few writes, never closer than the gap, always with the newest text [whole-texts]', async () => {
  const { pacer, written } = paced();
  let text = '';
  // For a time and not for a count: a busy machine takes longer for each snapshot.
  const endAtMs = performance.now() + 200;
  while (performance.now() < endAtMs) {
    pacer.show({ text: (text += 'x') });
    if (text === 'x') await endOfTurn();
    await sleep(5);
  }
  await untilTrue(() => written.at(-1)?.text === text);
  await sleep(2 * GAP_MS);
  expect(written[0]?.text).toBe('x');
  expect(written.at(-1)?.text).toBe(text);
  expect(written.length).toBeLessThan(12);
  for (const [index, { atMs, text: shown }] of written.entries()) {
    const before = written[index - 1];
    if (!before) continue;
    expect(atMs - before.atMs).toBeGreaterThanOrEqual(GAP_MS - 2);
    expect(shown.length).toBeGreaterThan(before.text.length);
  }
});

test('does not delay the first text after a status that was shown right before it', async () => {
  const { pacer, written } = paced(undefined, 0);
  pacer.show({ text: '', status: 'thinking' });
  await endOfTurn();
  pacer.show({ text: 'H' });
  await endOfTurn();
  expect(written.map(({ text }) => text)).toEqual(['', 'H']);
});

test('shows the first thinking at once, and the first text after it at once', async () => {
  const { pacer, written } = paced(undefined, 0);
  pacer.show({ text: '', status: 'released' });
  await endOfTurn();
  pacer.show({ text: '', thinking: 'a' });
  await endOfTurn();
  pacer.show({ text: '', thinking: 'ab' });
  await endOfTurn();
  pacer.show({ text: 'H', thinking: 'ab' });
  await endOfTurn();
  expect(written.map(({ text }) => text)).toEqual(['', '', 'H']);
});

test('pauses as long as the platform asks, and then writes the newest snapshot [whole-texts]', async () => {
  let isBusy = true;
  const { pacer, written } = paced(() => (isBusy ? ((isBusy = false), 150) : undefined));
  pacer.show({ text: 'a' });
  await endOfTurn();
  pacer.show({ text: 'ab' });
  await untilTrue(() => written.length > 1);
  await sleep(100);
  expect(written.map(({ text }) => text)).toEqual(['a', 'ab']);
  expect((written[1]?.atMs ?? 0) - (written[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(145);
});

test('close waits for the write in progress, so that the last snapshot comes last [whole-texts]', async () => {
  const ended: string[] = [];
  pacer = new EditThrottle({
    onError: () => undefined,
    minGapMs: GAP_MS,
    nowMs: () => performance.now(),
    write: async ({ text }) => {
      await sleep(60);
      ended.push(text);
      return undefined;
    },
  });
  pacer.show({ text: 'under way' });
  await endOfTurn();
  await pacer.close();
  expect(ended).toEqual(['under way']);
});

test('close waits for the write in progress, but not for the pause that the platform asks for', async () => {
  let answer: (pauseMs: number) => void = () => undefined;
  pacer = new EditThrottle({
    onError: () => undefined,
    minGapMs: GAP_MS,
    nowMs: () => performance.now(),
    write: () => new Promise((resolve) => (answer = resolve)),
  });
  pacer.show({ text: 'under way' });
  await endOfTurn();
  const closed = pacer.close()?.then(() => 'closed');
  answer(300_000);
  // The write in progress ends long before the platform's pause does.
  expect(await Promise.race([closed, sleep(5_000, 'still waiting')])).toBe('closed');
});

test('writes a due snapshot in the event-loop turn in which it arrives', async () => {
  const { pacer, written } = paced();
  pacer.show({ text: 'a' });
  expect(written).toEqual([]);
  await endOfTurn();
  expect(written.map(({ text }) => text)).toEqual(['a']);
});

test('writes no snapshot of an answer that ends in the event-loop turn in which it arrives', async () => {
  const { pacer, written } = paced();
  pacer.show({ text: '', thinking: 'a' });
  pacer.show({ text: 'H', thinking: 'ab' });
  await Promise.resolve();
  await pacer.close();
  await endOfTurn();
  expect(written).toEqual([]);
});

test('property: writes nothing after close', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 }), async (pauses) => {
      const { pacer, written } = paced();
      let text = '';
      for (const pauseMs of pauses) {
        pacer.show({ text: (text += 'x') });
        if (pauseMs > 0) await sleep(pauseMs);
      }
      await pacer.close();
      const count = written.length;
      pacer.show({ text: 'late' });
      await sleep(5);
      expect(written.length).toBe(count);
    }),
    { numRuns: tries(20) },
  );
});

test('repeats a write that threw, and reports the error only to onError', async () => {
  const thrown: string[] = [];
  const unheard: unknown[] = [];
  const hear = (reason: unknown) => void unheard.push(reason);
  process.on('unhandledRejection', hear);
  let writes = 0;
  const pacer = new EditThrottle({
    minGapMs: 0,
    nowMs: () => performance.now(),
    onError: ({ message }) => void thrown.push(message),
    async write() {
      writes += 1;
      if (writes === 1) throw new Error('refused');
      return undefined;
    },
  });
  try {
    pacer.show({ text: 'a snapshot' });
    for (let tries = 0; writes < 2 && tries < 500; tries += 1) await sleep(10);
    expect(writes).toBe(2);
    await pacer.close();
  } finally {
    process.off('unhandledRejection', hear);
  }
  expect(thrown).toEqual(['refused']);
  expect(unheard).toEqual([]);
});
