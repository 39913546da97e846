import { winningSampling } from './judge-order.ts';
import { kindOfText } from './judge-text.ts';
import type { Ledger } from './ledger.ts';
import { lostCalls } from './lost-calls.ts';
import { spread, type ChaosReport } from './report.ts';
import { nameOf, slowRecoveries } from './slow-recovery.ts';

type Spread = ChaosReport['recoveryMs'];

/** What a run under slowness is asked beside the invariants. */
export interface SlowReport {
  /** Visible answers that the model wrote for at least so long as an answer of the run takes. */
  longAnswers: number;
  /** Calls of the model that were no summaries and were not refused by a full engine, to one visible answer. */
  callsPerAnswer: number;
  /** Calls of which no answer was made, by what the worker that made them met. */
  lostCalls: Record<string, number>;
  /** Time that answers lay idle after the last fault that touched them. */
  recoveryMs: Spread;
  /** The same by the kind of that fault, with how often the kind was injected. */
  byInjectedFault: Record<string, Spread & { injectedFaults: number }>;
  /** From the acknowledgement to the model's first call, of questions before which nothing waited. */
  beginsAfterMs: Spread;
}

export interface SlowGoals {
  longAnswers: number;
  callsPerAnswer: number;
  recoveryP99Ms: number;
}

/** Issue "the promise under slowness". */
export const SLOW_GOALS = { callsPerAnswer: 1.3, recoveryP99Ms: 40_000 };

/** @param leastAnswerMs how long the shortest answer takes */
export function slowReportOf(ledger: Ledger, leastAnswerMs: number): SlowReport {
  const winners = new Set(ledger.messages.flatMap((message) => winningSampling(ledger, message) ?? []));
  const long = [...winners].filter(
    ({ startedAtMs, endedAtMs = startedAtMs }) => endedAtMs - startedAtMs >= leastAnswerMs * ROUNDING,
  );
  const answers = ledger.messages.filter(({ snapshots }) => isEnd(snapshots.at(-1)?.text ?? '')).length;
  // A refusal by an engine that is full costs it nothing.
  const calls = ledger.samplings.filter(({ ending }) => ending !== 'full');
  const recoveries = slowRecoveries(ledger);
  const byInjectedFault: SlowReport['byInjectedFault'] = {};
  for (const name of new Set(ledger.injectedFaults.map(nameOf)).values()) {
    const own = recoveries.filter(({ injectedFault }) => injectedFault === name).map(({ ms }) => ms);
    byInjectedFault[name] = {
      injectedFaults: ledger.injectedFaults.filter((injectedFault) => nameOf(injectedFault) === name).length,
      ...spread(own),
    };
  }
  return {
    longAnswers: long.length,
    callsPerAnswer: Math.round((calls.length / Math.max(1, answers)) * 1_000) / 1_000,
    lostCalls: lostCalls(ledger),
    recoveryMs: spread(recoveries.map(({ ms }) => ms)),
    byInjectedFault,
    beginsAfterMs: spread(beginnings(ledger)),
  };
}

/** @returns one sentence for each goal that a run did not reach */
export function missedSlowGoals(report: SlowReport, goals: SlowGoals): string[] {
  const { longAnswers, callsPerAnswer, recoveryMs } = report;
  const missed: string[] = [];
  if (longAnswers < goals.longAnswers) missed.push(`${longAnswers} long answers, asked: ${goals.longAnswers}`);
  if (callsPerAnswer > goals.callsPerAnswer)
    missed.push(`the model was asked ${callsPerAnswer} times an answer, at most: ${goals.callsPerAnswer}`);
  if (recoveryMs.turns > 0 && recoveryMs.p99 > goals.recoveryP99Ms)
    missed.push(`recovery p99 is ${recoveryMs.p99} ms, promised: ${goals.recoveryP99Ms} ms`);
  return missed;
}

/** Timers come a little early or late. */
const ROUNDING = 0.99;

function isEnd(text: string): boolean {
  const { kind } = kindOfText(text);
  return kind === 'answer' || kind === 'apology';
}

function beginnings({ events, samplings }: Ledger): number[] {
  const begun = new Map<number, number>();
  for (const { asked, startedAtMs } of samplings)
    for (const question of asked) if (!begun.has(question)) begun.set(question, startedAtMs);
  return events.flatMap(({ id, conversation, acknowledgedAtMs }) => {
    const atMs = begun.get(id);
    if (acknowledgedAtMs === undefined || atMs === undefined) return [];
    const isBusy = samplings.some(
      (other) =>
        other.conversation === conversation &&
        !other.asked.includes(id) &&
        other.startedAtMs < atMs &&
        (other.endedAtMs ?? atMs) > acknowledgedAtMs - 1_000,
    );
    return isBusy ? [] : [atMs - acknowledgedAtMs];
  });
}
