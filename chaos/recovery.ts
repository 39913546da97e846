import { answersByQuestion } from './judge.ts';
import type { BlowKind, Ledger } from './ledger.ts';

/** A visible end is seen by a WeCom poll up to a second late; a kill in that second hit nothing any more. */
const SEEN_LATE_MS = 1_200;

/** From when on a life of a worker had a question in its hands. */
interface Holding {
  holder: string;
  fromMs: number;
}

/**
 * How long after the last blow of a kind that hit the worker which had it in its hands an answer was whole and visible.
 * In its hands: from the claim of a left turn, or from the model's call, until another worker claims it or it is shown.
 * Milliseconds, unsorted.
 */
export function recoveryTimes(ledger: Ledger, kind: BlowKind): { event: number; ms: number }[] {
  const answers = answersByQuestion(ledger);
  const blowsOn = new Map<string, number[]>();
  for (const { kind: own, target, atMs } of ledger.blows)
    if (own === kind) blowsOn.set(target, [...(blowsOn.get(target) ?? []), atMs]);
  return [...holdingsByQuestion(ledger)].flatMap(([event, holdings]) => {
    const shownAtMs = answers.get(event)?.[0]?.looks.at(-1)?.atMs;
    if (shownAtMs === undefined) return [];
    const hitsMs = holdings.flatMap(({ holder, fromMs }, index) => {
      const untilMs = holdings[index + 1]?.fromMs ?? shownAtMs - SEEN_LATE_MS;
      return (blowsOn.get(holder) ?? []).filter((atMs) => atMs >= fromMs && atMs <= untilMs && atMs < shownAtMs);
    });
    return hitsMs.length === 0 ? [] : [{ event, ms: shownAtMs - Math.max(...hitsMs) }];
  });
}

/** Who had each question in hand, one after another. A turn is named by its newest question; those merged into it share its way. */
function holdingsByQuestion({ samplings, resumptions }: Ledger): Map<number, Holding[]> {
  const holdings = new Map<number, Holding[]>();
  const turns = new Map<number, Set<number>>();
  const add = (question: number, holding: Holding) =>
    holdings.set(question, [...(holdings.get(question) ?? []), holding]);
  for (const { worker, asked, startedAtMs } of samplings) {
    const newest = asked.at(-1) ?? 0;
    turns.set(newest, new Set([...(turns.get(newest) ?? []), ...asked]));
    for (const question of asked) add(question, { holder: worker, fromMs: startedAtMs });
  }
  for (const { worker, turn, atMs } of resumptions)
    for (const question of turns.get(turn) ?? [turn]) add(question, { holder: worker, fromMs: atMs });
  for (const own of holdings.values()) own.sort((left, right) => left.fromMs - right.fromMs);
  return holdings;
}

/** Value below which `share` of the values lie; NaN for none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
