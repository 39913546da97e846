import { winningSampling } from './judge-order.ts';
import { kindOfText } from './judge-text.ts';
import type { Ledger } from './ledger.ts';
import { ENDED_BY_ENGINE, lostCalls, type LostCalls } from './lost-calls.ts';
import { spread, type ChaosReport } from './report.ts';
import { nameOf, slowRecoveries } from './slow-recovery.ts';

type Spread = ChaosReport['recoveryMs'];

/** Criteria of a slow-dependency run in addition to the guarantees. */
export interface SlowReport {
  /** Visible answers that the model generated for at least the duration of an answer in this run. */
  longAnswers: number;
  /** Model calls per visible answer, without summaries, calls that the engine ended early, and calls that an injected fault cut. */
  callsPerAnswer: number;
  /** The same with the calls that an injected fault cut. */
  allCallsPerAnswer: number;
  lostCalls: LostCalls;
  /** Idle time of answers after the last fault that affected them. */
  recoveryMs: Spread;
  /** The same by kind of fault, with the number of injected faults of that kind. */
  byInjectedFault: Record<string, Spread & { injectedFaults: number }>;
  /** Time from the acknowledgement to the first model call, for questions that did not have to wait for others. */
  beginsAfterMs: Spread;
}

export interface SlowGoals {
  longAnswers: number;
  callsPerAnswer: number;
  recoveryP99Ms: number;
}

/** Promised limits under slow dependencies. */
export const SLOW_GOALS = { callsPerAnswer: 1.1, recoveryP99Ms: 40_000 };

/** @param minAnswerMs duration of the shortest answer */
export function slowReportOf(ledger: Ledger, minAnswerMs: number): SlowReport {
  const winners = new Set(ledger.messages.flatMap((message) => winningSampling(ledger, message) ?? []));
  const long = [...winners].filter(
    ({ startedAtMs, endedAtMs = startedAtMs }) => endedAtMs - startedAtMs >= minAnswerMs * ROUNDING,
  );
  const answers = ledger.messages.filter(({ snapshots }) => isEnd(snapshots.at(-1)?.text ?? '')).length;
  const calls = ledger.samplings.filter(({ ending }) => !ENDED_BY_ENGINE.has(ending));
  const lost = lostCalls(ledger);
  const cut = Object.values(lost.cut).reduce((sum, count) => sum + count, 0);
  const perAnswer = (count: number) => Math.round((count / Math.max(1, answers)) * 1_000) / 1_000;
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
    callsPerAnswer: perAnswer(calls.length - cut),
    allCallsPerAnswer: perAnswer(calls.length),
    lostCalls: lost,
    recoveryMs: spread(recoveries.map(({ ms }) => ms)),
    byInjectedFault,
    beginsAfterMs: spread(beginnings(ledger)),
  };
}

/** @returns one sentence per missed goal */
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

/** Timers may fire slightly early or late. */
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
