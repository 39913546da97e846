import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { listenForStop } from '../../../src/shared/process/stop-signals.ts';

const SAME_PRESS_MS = 1_500;

/** The actions after signals at these moments. */
function heardOf(signals: readonly { atMs: number; signal: 'SIGINT' | 'SIGTERM' }[]): string[] {
  const [source, heard] = [new EventEmitter(), [] as string[]];
  let nowMs = 0;
  const end = listenForStop({
    onStop: () => heard.push('stop'),
    onInsist: () => heard.push('insist'),
    source,
    monotonicMs: () => nowMs,
  });
  for (const { atMs, signal } of signals) {
    nowMs = atMs;
    source.emit(signal);
  }
  end();
  expect(source.listenerCount('SIGINT') + source.listenerCount('SIGTERM')).toBe(0);
  return heard;
}

test('one Ctrl+C, delivered twice by terminal and npm, is one orderly stop', () => {
  const told = heardOf([
    { atMs: 0, signal: 'SIGINT' },
    { atMs: 3, signal: 'SIGINT' },
    { atMs: 1_499, signal: 'SIGTERM' },
  ]);
  expect(told).toEqual(['stop']);
});

test('a further signal after 1.5 s ends the process at once', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ atMs: fc.nat({ max: 5_000 }), signal: fc.constantFrom('SIGINT' as const, 'SIGTERM' as const) }),
        { minLength: 1 },
      ),
      (unsorted) => {
        const signals = unsorted.toSorted((one, other) => one.atMs - other.atMs);
        const late = signals.slice(1).filter(({ atMs }) => atMs - (signals[0]?.atMs ?? 0) >= SAME_PRESS_MS);
        expect(heardOf(signals)).toEqual(['stop', ...late.map(() => 'insist')]);
      },
    ),
  );
});
