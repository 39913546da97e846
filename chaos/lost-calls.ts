import type { InjectedFault, Ledger, Sampling } from './ledger.ts';
import { winningSampling } from './judge-order.ts';
import { nameOf } from './slow-recovery.ts';

/** A worker that lost its turn may hear of it only with its next write, and a stop lets turns run for its grace. */
const FELT_FOR_MS = 15_000;

/**
 * Why the model was asked more often than there are answers: each call of which no visible answer was made, by the last fault on the
 * worker that made it, or on Redis. `unknown` when there was none.
 */
export function lostCalls(ledger: Ledger): Record<string, number> {
  const winners = new Set(ledger.messages.map((message) => winningSampling(ledger, message)));
  const counts: Record<string, number> = {};
  for (const sampling of ledger.samplings) {
    if (winners.has(sampling) || sampling.ending === 'full') continue;
    const cause = causeOf(ledger, sampling);
    counts[cause] = (counts[cause] ?? 0) + 1;
  }
  return counts;
}

function causeOf({ injectedFaults }: Ledger, sampling: Sampling): string {
  const felt = injectedFaults.filter((injectedFault) => isFelt(injectedFault, sampling));
  // What ends a call for certain counts before what only delays it.
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
