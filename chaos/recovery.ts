import { answersByQuestion } from './judge.ts';
import type { Blow, BlowKind, Ledger, Sampling } from './ledger.ts';

/** A visible end is seen by a WeCom poll up to a second late; a kill in that second hit nothing any more. */
const SEEN_LATE_MS = 1_200;

/**
 * How long after the last blow that hit its worker an answer was whole and visible: for each question whose model call was
 * open in that process, or ended but not shown, when the blow fell. Milliseconds, unsorted.
 */
export function recoveryTimes(ledger: Ledger, kind: BlowKind): { event: number; ms: number }[] {
  const answers = answersByQuestion(ledger);
  const blowsOn = new Map<string, Blow[]>();
  for (const blow of ledger.blows)
    if (blow.kind === kind) blowsOn.set(blow.target, [...(blowsOn.get(blow.target) ?? []), blow]);
  const lastHit = new Map<number, number>();
  for (const [question, samplings] of samplingsByQuestion(ledger)) {
    const shownAtMs = answers.get(question)?.[0]?.looks.at(-1)?.atMs ?? Infinity;
    for (const [index, { worker, startedAtMs, endedAtMs = Infinity, ending }] of samplings.entries()) {
      // A text that was whole at its service is still in its worker's hands until it is shown, or asked for again.
      const nextMs = samplings[index + 1]?.startedAtMs ?? shownAtMs - SEEN_LATE_MS;
      const heldUntilMs = ending === 'whole' ? Math.max(endedAtMs, nextMs) : endedAtMs;
      for (const { atMs } of blowsOn.get(worker) ?? [])
        if (startedAtMs <= atMs && atMs <= heldUntilMs && atMs < shownAtMs)
          lastHit.set(question, Math.max(lastHit.get(question) ?? 0, atMs));
    }
  }
  return [...lastHit].flatMap(([event, hitAtMs]) => {
    const shownAtMs = answers.get(event)?.[0]?.looks.at(-1)?.atMs;
    return shownAtMs === undefined ? [] : [{ event, ms: shownAtMs - hitAtMs }];
  });
}

function samplingsByQuestion({ samplings }: Ledger): Map<number, Sampling[]> {
  const byQuestion = new Map<number, Sampling[]>();
  for (const sampling of samplings)
    for (const question of sampling.asked) byQuestion.set(question, [...(byQuestion.get(question) ?? []), sampling]);
  return byQuestion;
}

/** Value below which `share` of the values lie; NaN for none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
