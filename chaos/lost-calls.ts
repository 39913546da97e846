import type { InjectedFault, Ledger, Sampling } from './ledger.ts';
import { winningSampling } from './judge-order.ts';
import { holdingsByQuestion } from './recovery.ts';
import { nameOf } from './slow-recovery.ts';

/** The engine refused the call or broke it off, so that the worker had to repeat it. */
export const ENDED_BY_ENGINE = new Set<Sampling['ending']>(['full', 'refused', 'cut', 'stalled']);
/** A worker may notice only with its next write that it lost its turn, and a stop lets turns run for the grace period. */
const FELT_FOR_MS = 15_000;
/** Calls of a process that dies end within this time of each other. */
const TOGETHER_MS = 500;
/** Others take the turns of a worker that they have not heard of for six seconds, measured between two checks. */
const SILENT_MS = 5_500;

/** Calls without a visible answer, except those that the engine ended. */
export interface LostCalls {
  /** Calls that an injected fault ended, or whose turn it took from their worker, by the name of the fault. */
  cut: Record<string, number>;
  /** Calls that the product could have avoided, by the last fault of their worker or of Redis; `unknown` if there was none. */
  wasted: Record<string, number>;
}

/** Why there were more model calls than answers. */
export function lostCalls(ledger: Ledger): LostCalls {
  const winners = new Set(ledger.messages.map((message) => winningSampling(ledger, message)));
  const holdings = holdingsByQuestion(ledger);
  const lost: LostCalls = { cut: {}, wasted: {} };
  for (const sampling of ledger.samplings) {
    if (winners.has(sampling) || ENDED_BY_ENGINE.has(sampling.ending)) continue;
    const turn = sampling.asked.at(-1) ?? 0;
    const next = holdings.get(turn)?.find(({ fromMs }) => fromMs > sampling.startedAtMs + TOGETHER_MS);
    const cutBy = cutOf(ledger, sampling, next?.fromMs);
    const [counts, name] = cutBy === undefined ? [lost.wasted, causeOf(ledger, sampling)] : [lost.cut, cutBy];
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return lost;
}

/** @param takenAtMs when the turn was claimed again @returns the name of the fault that cut the call */
function cutOf(ledger: Ledger, sampling: Sampling, takenAtMs: number | undefined): string | undefined {
  const { worker, endedAtMs = Number.POSITIVE_INFINITY } = sampling;
  const isPoison = ({ asked }: Sampling) => ledger.poisons.some((poison) => asked.includes(poison));
  // A poison question, and what ran beside it in a process that it killed.
  const isBesidePoison = ledger.samplings.some(
    (other) => isPoison(other) && other.worker === worker && Math.abs((other.endedAtMs ?? 0) - endedAtMs) < TOGETHER_MS,
  );
  if (isPoison(sampling) || isBesidePoison) return 'poison';
  const fault = ledger.injectedFaults.findLast((one) => isCutBy(one, sampling, takenAtMs));
  return fault && nameOf(fault);
}

function isCutBy(fault: InjectedFault, { worker, startedAtMs, endedAtMs = Infinity }: Sampling, takenAtMs = Infinity) {
  const { kind, target, atMs, untilMs = Infinity, detail } = fault;
  const [process, link] = target.split(' ');
  if (process !== worker || atMs > endedAtMs + TOGETHER_MS) return false;
  const lastsUntilMs = Math.min(untilMs, takenAtMs);
  const isTaken = (afterMs: number) =>
    // A call that began later should not have been made.
    startedAtMs <= atMs + Math.max(afterMs, TOGETHER_MS) &&
    lastsUntilMs - atMs >= afterMs &&
    takenAtMs <= untilMs + FELT_FOR_MS;
  if (kind === 'kill') return startedAtMs <= atMs;
  if (kind === 'stop') return startedAtMs <= untilMs && takenAtMs <= untilMs + FELT_FOR_MS;
  if (kind === 'freeze' || kind === 'sleep') return isTaken(SILENT_MS);
  // Others take the turns of a worker without a connection at once.
  if (link === 'redis') return isTaken(/"(?:cut|reset)"/.test(detail) ? 0 : SILENT_MS);
  return link === 'chat' && endedAtMs >= atMs && endedAtMs <= untilMs + TOGETHER_MS;
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
