import { judgeLinks } from './judge-links.ts';
import { judgeTraces, type TraceCounts } from './judge-traces.ts';
import { judge } from './judge.ts';
import type { InjectedFaultKind, Ledger, Violation } from './ledger.ts';
import { percentile, recoveryTimes } from './recovery.ts';
import type { ChaosRun } from './run-chaos.ts';
import { separateLeftovers } from './separate-leftovers.ts';

/** The figures of a run, as one line of JSON. */
export interface ChaosReport {
  seed: string;
  events: number;
  accepted: number;
  answered: number;
  merged: number;
  interrupted: number;
  /** Summary requests, which are not questions. */
  summaries: number;
  apologies: Record<string, number>;
  kills: number;
  injectedFaults: Partial<Record<InjectedFaultKind, number>>;
  lost: number;
  repeated: number;
  outOfOrder: number;
  crossed: number;
  joined: number;
  otherViolations: number;
  /** Turns whose worker was killed, except those whose first post was in doubt or that waited for others. */
  recoveryMs: { turns: number; p50: number; p99: number; max: number };
  /** The same turns, after the last fault that stopped the process responsible for them. */
  afterLastStopMs: { turns: number; p50: number; p99: number; max: number };
  /** Turns whose first post was in doubt: Slack may still have executed it. */
  doubtfulMs: { turns: number; p50: number; p99: number; max: number };
  /** Turns that also had to wait for a full engine or for Redis; they have no goal. */
  waitedMs: { turns: number; p50: number; p99: number; max: number };
  /** Turns whose worker was frozen, counted from the beginning of the freeze. */
  frozenMs: { turns: number; p50: number; p99: number; max: number };
  /** Freezes that were not cut short. */
  freezes: { count: number; ofWorkers: number; minMs: number; cutShort: number };
  stops: { count: number; ofWorkers: number; slowestMs: number; unclean: number };
  /** Questions whose `admin trace` was compared with the ledger. */
  traces: TraceCounts;
  drainedAfterMs: number | undefined;
  stillWaiting: number;
  /** For WeCom's connection: messages lost between two connections, and the durations without a connection. */
  connection?: {
    subscriptions: number;
    lostInGaps: number;
    /** Of these, messages whose senders were told to ask again. */
    toldInGaps: number;
    gapsMs: { turns: number; p50: number; p99: number; max: number };
  };
  /** People who signed in during the run, each linked to exactly their own account. */
  links: { users: number; broken: number } | 'not judged: sign-in is off';
}

/**
 * Maximum duration of an orderly stop: the grace period of 10 s and two more seconds
 * (RELIABILITY.md stopped-while-answering).
 */
const STOP_LIMIT_MS = 12_000;

export function reportOf(seed: string, run: ChaosRun): { report: ChaosReport; violations: Violation[] } {
  const { stops, endedByThemselves } = run;
  const ledger = separateLeftovers(run.ledger);
  const verdict = judge(ledger);
  const traced = judgeTraces(ledger);
  const { stopLimitMs = STOP_LIMIT_MS } = run;
  const unclean = stops.filter(({ code, tookMs }) => code !== 0 || tookMs > stopLimitMs);
  const broken = run.links ? judgeLinks(ledger, run.links.linked, run.links.table) : [];
  const violations: Violation[] = [
    ...verdict.violations,
    ...traced.violations,
    ...broken,
    ...endedByThemselves.map((detail): Violation => ({ kind: 'unexplained', event: 0, detail })),
    ...unclean.map(({ instance, code, tookMs }): Violation => ({
      kind: 'unexplained',
      event: 0,
      detail: `${instance} was asked to stop and ended with ${String(code)} after ${Math.round(tookMs)} ms`,
    })),
  ];
  const count = (kind: Violation['kind']) => violations.filter((violation) => violation.kind === kind).length;
  const { lost, repeated, outOfOrder, crossed, joined } = {
    lost: count('lost'),
    repeated: count('repeated'),
    outOfOrder: count('out of order'),
    crossed: count('crossed'),
    joined: count('joined'),
  };
  const injectedFaults = countInjectedFaults(ledger);
  const allAfterKills = recoveryTimes(ledger, 'kill');
  const afterKills = allAfterKills.filter(({ hasWaited }) => !hasWaited);
  const certain = afterKills.filter(({ isDoubtful }) => !isDoubtful);
  const report: ChaosReport = {
    seed,
    events: ledger.events.length,
    accepted: verdict.accepted,
    answered: verdict.answered,
    merged: verdict.merged,
    interrupted: verdict.interrupted,
    summaries: ledger.summaries.length,
    apologies: verdict.apologies,
    kills: (injectedFaults.kill ?? 0) + (injectedFaults['redis-kill'] ?? 0),
    injectedFaults,
    lost,
    repeated,
    outOfOrder,
    crossed,
    joined,
    otherViolations: violations.length - lost - repeated - outOfOrder - crossed - joined,
    recoveryMs: spread(certain.map(({ ms }) => ms)),
    afterLastStopMs: spread(certain.map(({ afterLastStopMs }) => afterLastStopMs)),
    doubtfulMs: spread(afterKills.filter(({ isDoubtful }) => isDoubtful).map(({ ms }) => ms)),
    waitedMs: spread(allAfterKills.filter(({ hasWaited }) => hasWaited).map(({ ms }) => ms)),
    frozenMs: spread(recoveryTimes(ledger, 'freeze').map(({ ms }) => ms)),
    freezes: countFreezes(ledger),
    stops: {
      count: stops.length,
      ofWorkers: stops.filter(({ instance }) => instance.startsWith('worker')).length,
      slowestMs: Math.round(Math.max(0, ...stops.map(({ tookMs }) => tookMs))),
      unclean: unclean.length,
    },
    traces: traced.counts,
    drainedAfterMs: run.drainedAfterMs,
    stillWaiting: run.leftovers.pending,
    ...(run.connection ? { connection: { ...run.connection, gapsMs: spread(run.connection.gapsMs) } } : {}),
    links: run.links ? { users: run.links.linked.size, broken: broken.length } : 'not judged: sign-in is off',
  };
  return { report, violations };
}

/** Whether all guarantees were kept. */
export function isKept({ report, violations }: ReturnType<typeof reportOf>): boolean {
  return violations.length === 0 && report.stillWaiting === 0;
}

/** Everything known about one event, oldest first, to find the cause of a violation. */
export function traceOf(ledger: Ledger, id: number): string {
  const { events, samplings, messages, resumptions, injectedFaults, instances = {} } = ledger;
  const event = events[id - 1];
  if (!event) return `Q${id}: no such event`;
  const lines: { atMs: number; what: string }[] = [
    { atMs: event.sentAtMs, what: `sent on ${event.platform} in C${event.conversation}` },
    ...event.tries.map(({ atMs, receiver, result }) => ({ atMs, what: `delivered to ${receiver}: ${result}` })),
  ];
  if (event.acknowledgedAtMs !== undefined) lines.push({ atMs: event.acknowledgedAtMs, what: 'acknowledged' });
  for (const { number, worker, asked, startedAtMs, endedAtMs, ending } of samplings) {
    if (!asked.includes(id)) continue;
    lines.push({
      atMs: startedAtMs,
      what: `S${number} of ${asked.map((one) => `Q${one}`).join(' ')} begins in ${worker}`,
    });
    if (endedAtMs !== undefined) lines.push({ atMs: endedAtMs, what: `S${number} ends: ${ending}` });
  }
  const turn = events[(event.record?.answeredBy ?? id) - 1];
  for (const { atMs, instance } of turn?.record?.claims ?? [])
    lines.push({ atMs, what: `claimed by ${instances[instance] ?? instance}` });
  for (const { atMs, worker, turn: resumed } of resumptions)
    if (resumed === id) lines.push({ atMs, what: `taken over by ${worker}` });
  for (const message of messages) {
    const isAbout = message.event === id || message.snapshots.some(({ text }) => text.includes(`Q${id} `));
    if (!isAbout) continue;
    for (const { atMs, text } of fewOf(message.snapshots))
      lines.push({ atMs, what: `shown on Q${String(message.event)}: ${brief(text)}` });
    lines.push({
      atMs: message.snapshots.at(-1)?.atMs ?? 0,
      what: message.isFinal ? 'that is final' : 'that is not final',
    });
  }
  const untilMs = Math.max(...lines.map(({ atMs }) => atMs));
  for (const { atMs, kind, target, detail } of injectedFaults)
    if (atMs >= event.sentAtMs - 15_000 && atMs <= untilMs) lines.push({ atMs, what: `[${kind} ${target} ${detail}]` });
  const told = event.record ? `${event.record.state}, answered by Q${String(event.record.answeredBy)}` : 'nothing';
  return [
    `Q${id} (the product's ledger: ${told})`,
    ...lines
      .sort((left, right) => left.atMs - right.atMs)
      .map(({ atMs, what }) => `  ${((atMs - event.sentAtMs) / 1_000).toFixed(3).padStart(8)} s  ${what}`),
  ].join('\n');
}

/** Only the first and the last snapshot, because a long answer has too many. */
function fewOf<T>(snapshots: readonly T[]): T[] {
  return snapshots.length <= 6 ? [...snapshots] : [...snapshots.slice(0, 2), ...snapshots.slice(-3)];
}

function brief(text: string): string {
  return JSON.stringify(text.length <= 80 ? text : `${text.slice(0, 40)} … ${text.slice(-30)}`).slice(1, -1);
}

function countFreezes({ injectedFaults }: Ledger): ChaosReport['freezes'] {
  const freezes = injectedFaults.filter(({ kind }) => kind === 'freeze');
  const whole = freezes.flatMap(({ target, atMs, untilMs }) =>
    untilMs === undefined ? [] : [{ target, ms: untilMs - atMs }],
  );
  return {
    count: whole.length,
    ofWorkers: whole.filter(({ target }) => target.startsWith('worker')).length,
    minMs: whole.length === 0 ? 0 : Math.min(...whole.map(({ ms }) => ms)),
    cutShort: freezes.length - whole.length,
  };
}

function countInjectedFaults({ injectedFaults }: Ledger): Partial<Record<InjectedFaultKind, number>> {
  const counts: Partial<Record<InjectedFaultKind, number>> = {};
  for (const { kind } of injectedFaults) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Their number and distribution. */
export function spread(values: number[]): ChaosReport['recoveryMs'] {
  const at = (share: number) => Math.round(percentile(values, share)) || 0;
  return { turns: values.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}
