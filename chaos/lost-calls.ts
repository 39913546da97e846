import type { InjectedFault, Ledger, Sampling } from './ledger.ts';
import { winningSampling } from './judge-order.ts';
import { nameOf } from './slow-recovery.ts';

/** The engine refused the call or broke it off, so that the worker had to repeat it. */
export const ENDED_BY_ENGINE = new Set<Sampling['ending']>(['full', 'refused', 'cut', 'stalled']);
/** A worker may notice only with its next write that it lost its turn, and a stop lets turns run for the grace period. */
const FELT_FOR_MS = 15_000;

/**
 * Why there were more model calls than answers: classifies each call without a visible answer by the last fault of its
 * worker or of Redis. `unknown` if there was none. Without calls that the engine ended itself.
 */
export function lostCalls(ledger: Ledger): Record<string, number> {
  const winners = new Set(ledger.messages.map((message) => winningSampling(ledger, message)));
  const counts: Record<string, number> = {};
  for (const sampling of ledger.samplings) {
    if (winners.has(sampling) || ENDED_BY_ENGINE.has(sampling.ending)) continue;
    const cause = causeOf(ledger, sampling);
    counts[cause] = (counts[cause] ?? 0) + 1;
  }
  return counts;
}

function causeOf({ injectedFaults }: Ledger, sampling: Sampling): string {
  const felt = injectedFaults.filter((injectedFault) => isFelt(injectedFault, sampling));
  // Faults that certainly end a call take precedence over those that only delay it.
  const last = felt.filter(({ kind }) => kind === 'stop' || kind === 'kill').at(-1) ?? felt.at(-1);
  return last ? nameOf(last) : 'unknown';
}

function isFelt(
  { target, atMs, untilMs = atMs }: InjectedFault,
  { worker, startedAtMs, endedAtMs = startedAtMs }: Sampling,
) {
  const [process] = target.split(' ');
  return (process === worker || process === 'redis') && atMs <= endedAtMs && untilMs + FELT_FOR_MS >= endedAtMs;
}
