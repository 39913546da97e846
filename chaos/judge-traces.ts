import type { RedisClient } from '../src/shared/redis/redis.ts';
import { personIdOf } from '../src/bot/domain/conversation.ts';
import { readTraces, type Trace, type TracedStep } from '../src/bot/queue/read-trace.ts';
import { answersByQuestion } from './judge.ts';
import { kindOfText, saysInterrupted } from './judge-text.ts';
import { deliveryOf, ownerOf, userIdOf } from './drain.ts';
import type { InjectedFault, Ledger, Sampling, SentEvent, Violation } from './ledger.ts';
import { holdingsByQuestion } from './recovery.ts';

/** Numbers of the questions whose traces were judged, in all and of those that suffered something. */
export type TraceCounts = Record<'judged' | 'merged' | 'killed' | 'frozen' | 'retried' | 'failed' | 'dead', number>;

const READ_AT_ONCE = 50;
/** The ledger and the product note the same moment within this time. */
const TOLERANCE_MS = 2_500;
/** A worker that is frozen for longer has lost its claim, and the next one has had time to take it. */
const SURELY_LOST_MS = 12_000;
/** The last writes of a killed worker and of its process for suspected turns arrive within this time. */
const LAST_WRITES_MS = 100;
/** Calls that need not have reached the engine. */
const BEFORE_THE_ENGINE = /^chat_(?:unreachable|timeout|circuit_open|local_limit|bad_stream|cancelled)$/;

/** Reads what `admin trace` would show for each event. */
export async function readAllTraces(store: RedisClient, events: readonly SentEvent[]): Promise<void> {
  for (let from = 0; from < events.length; from += READ_AT_ONCE)
    await Promise.all(
      events.slice(from, from + READ_AT_ONCE).map(async (event) => {
        event.traces = await readTraces(store, deliveryOf(event));
      }),
    );
}

/** Judges each trace by the ledger: it must say what its question suffered, which calls it made and how it ended. */
export function judgeTraces(ledger: Ledger): { violations: Violation[]; counts: TraceCounts } {
  const counts: TraceCounts = { judged: 0, merged: 0, killed: 0, frozen: 0, retried: 0, failed: 0, dead: 0 };
  const view = viewOf(ledger);
  const violations = ledger.events.flatMap((event): Violation[] => {
    if (event.record === undefined) return [];
    counts.judged += 1;
    const [trace, ...others] = event.traces ?? [];
    const wrong = trace && others.length === 0 ? judgeTrace(view, event, trace, counts) : ['it has not one trace'];
    return wrong.map((fact) => ({ kind: 'misexplained', event: event.id, detail: `${fact}; ${tell(trace)}` }));
  });
  return { violations, counts };
}

type View = ReturnType<typeof viewOf>;

function viewOf(ledger: Ledger) {
  const callsOf = new Map<number, Sampling[]>();
  for (const sampling of ledger.samplings) {
    const turn = sampling.asked.at(-1) ?? 0;
    callsOf.set(turn, [...(callsOf.get(turn) ?? []), sampling]);
  }
  return { ledger, callsOf, answers: answersByQuestion(ledger), holdings: holdingsByQuestion(ledger) };
}

function judgeTrace(view: View, event: SentEvent, trace: Trace, counts: TraceCounts): string[] {
  const person = personIdOf(ownerOf(event), userIdOf(event));
  const into = view.ledger.events[(event.record?.answeredBy ?? event.id) - 1] ?? event;
  const isMerged = into !== event;
  const facts = {
    'it names another person': trace.person !== person,
    'it names another state': trace.state !== event.record?.state,
    'it names another turn': (trace.mergedInto ?? deliveryOf(event)) !== deliveryOf(into),
    'it was accepted at another time': !isAcceptedInTime(event, trace),
    'its steps are out of order': !isInOrder(trace.steps),
  };
  if (isMerged) counts.merged += 1;
  return [...namesOf(facts), ...(isMerged ? [] : judgeTurn(view, event, trace, counts))];
}

/** A question that was answered by itself, or in whose turn others were. */
function judgeTurn(view: View, { id }: SentEvent, trace: Trace, counts: TraceCounts): string[] {
  const claims = claimsOf(trace);
  const last = claims.at(-1);
  if (!last) return ['it has no claim'];
  const calls = view.callsOf.get(id) ?? [];
  const endedAtMs = stepsOf(last, 'ended').at(-1)?.atMs ?? Infinity;
  const own = calls.filter(({ startedAtMs }) => startedAtMs >= last.atMs - 50);
  const holders = claims.map((claim) => view.ledger.instances?.[claim.worker.split(/[-+]/, 1)[0] ?? '']);
  // A worker that lost the turn while its call was under way.
  const isEarlier = (worker: string, startedAtMs: number) =>
    holders.includes(worker) && holders.at(-1) !== worker && startedAtMs < last.atMs + TOLERANCE_MS;
  const certain = own.filter(
    ({ worker, startedAtMs }) =>
      startedAtMs <= endedAtMs + 50 && !isEarlier(worker, startedAtMs) && !wasFrozenAt(view, worker, last.atMs),
  );
  const ends = stepsOf(last, 'model call ended');
  const expected = outcomeOf(view, id);
  const outcome = stepsOf(last, 'ended').at(-1)?.values['outcome'];
  const isWhole = own.some(({ ending }) => ending === 'whole') && expected === 'answered';
  const [killed, frozen] = [hitsOf(view, id, 'kill'), hitsOf(view, id, 'freeze')];
  if (killed.length > 0) counts.killed += 1;
  if (frozen.length > 0) counts.frozen += 1;
  if (ends.length > 1) counts.retried += 1;
  if (expected === 'failed') counts.failed += 1;
  if (expected === 'dead') counts.dead += 1;
  const reached = ends.filter(({ values }) => !BEFORE_THE_ENGINE.test(String(values['outcome'])));
  return namesOf({
    [`it ended as ${String(outcome)}, and its person saw ${String(expected)}`]:
      expected !== undefined && outcome !== expected,
    'a call of a worker is outside of all claims': calls.some(({ startedAtMs }) => !wasClaimedAt(claims, startedAtMs)),
    [`it ended as ${String(outcome)} without a reason`]: !isExplained(String(outcome), claims),
    'it lacks calls of its last worker': expected !== 'dead' && ends.length < certain.length,
    'it names calls that the engine never received': reached.length > own.length,
    'it lacks the first token': isWhole && stepsOf(last, 'first token').length === 0,
    'its last call did not end as complete': isWhole && ends.at(-1)?.values['outcome'] !== 'complete',
    'it lacks the claim after a kill': !killed.every(
      (fault) => isTakenOver(claims, fault) || endedAtMs - fault.atMs < LAST_WRITES_MS,
    ),
    // A process of its own that a suspect turn was handed to is not frozen with its worker.
    'it lacks the claim after a freeze': !frozen.every((fault) => last.crashes > 1 || isTakenOver(claims, fault)),
    'its claims have no rising epochs': claims.some(({ epoch }, at) => epoch <= (claims[at - 1]?.epoch ?? -1)),
  });
}

interface Claim {
  atMs: number;
  epoch: number;
  worker: string;
  crashes: number;
  steps: TracedStep[];
}

function claimsOf({ steps }: Trace): Claim[] {
  const claims: Claim[] = [];
  for (const step of steps) {
    const { atMs, values } = step;
    const [epoch, crashes, worker] = [Number(values['epoch']), Number(values['crashes']), String(values['worker'])];
    if (step.step === 'claimed') claims.push({ atMs, epoch, crashes, worker, steps: [] });
    else claims.at(-1)?.steps.push(step);
  }
  return claims;
}

const stepsOf = ({ steps }: Claim, name: string) => steps.filter(({ step }) => step === name);
/** The product lists only the last claims; a first one after crashes has predecessors. */
const wasClaimedAt = (claims: readonly Claim[], atMs: number) =>
  (claims[0]?.crashes ?? 0) > 0 || claims.some((claim) => claim.atMs <= atMs + 50);

/** Other ends need a step that says why. A stored refusal is shown by a later worker, and explained by an earlier one. */
function isExplained(outcome: string, claims: readonly Claim[]): boolean {
  const last = claims.at(-1)?.steps ?? [];
  const has = (steps: readonly TracedStep[], reason: RegExp) => steps.some(({ step }) => reason.test(step));
  switch (outcome) {
    case 'refused': {
      const isStored = has(last, /^answer of an earlier worker$/);
      return has(isStored ? claims.flatMap(({ steps }) => steps) : last, /^(?:refused|moderated)$/);
    }
    case 'failed':
      return (
        has(last, /^error$/) ||
        last.some(({ step, values }) => step === 'model call ended' && values['outcome'] !== 'complete')
      );
    case 'interrupted':
      return has(last, /^(?:error|model call ended|answer of an earlier worker)$/);
    default:
      return true;
  }
}

/** The worker that was hit is followed by another one, which counts the crash of a killed one. */
function isTakenOver(claims: readonly Claim[], { kind, atMs }: InjectedFault): boolean {
  const hit = claims.findLast((claim) => claim.atMs <= atMs + 50);
  const next = claims.find((claim) => claim.atMs > atMs + 50);
  return next !== undefined && next.worker !== hit?.worker && (kind !== 'kill' || next.crashes > 0);
}

/** A worker that resumes calls the model once more before it learns that it was replaced. */
function wasFrozenAt({ ledger }: View, worker: string, atMs: number): boolean {
  return ledger.injectedFaults.some(
    ({ kind, target, atMs: fromMs, untilMs = Infinity }) =>
      kind === 'freeze' && target === worker && fromMs <= atMs && untilMs >= atMs,
  );
}

/** Faults of a worker while it certainly worked on the question. */
function hitsOf({ ledger, holdings, callsOf }: View, id: number, kind: 'kill' | 'freeze'): InjectedFault[] {
  return (holdings.get(id) ?? []).flatMap(({ holder }) => {
    const open = (callsOf.get(id) ?? []).filter(({ worker }) => worker === holder);
    return ledger.injectedFaults.filter(
      ({ kind: what, target, atMs, untilMs }) =>
        what === kind &&
        target === holder &&
        (kind === 'kill' || (untilMs !== undefined && untilMs - atMs > SURELY_LOST_MS)) &&
        open.some(({ startedAtMs, endedAtMs = Infinity }) => startedAtMs + 50 < atMs && atMs < endedAtMs - 50),
    );
  });
}

/** How the question ended for its person; undefined if it cannot be told. */
function outcomeOf({ ledger, answers }: View, id: number): string | undefined {
  const message = answers.get(id)?.[0] ?? ledger.messages.find(({ event }) => event === id);
  const text = message?.snapshots.at(-1)?.text ?? '';
  const kind = kindOfText(text);
  if (kind.kind === 'answer') return saysInterrupted(text) ? 'interrupted' : 'answered';
  if (kind.kind !== 'apology') return undefined;
  if (kind.name === 'deadLetter') return 'dead';
  return /^(?:chat|internal)/.test(kind.name) ? 'failed' : undefined;
}

function isAcceptedInTime({ sentAtMs, acknowledgedAtMs = Infinity }: SentEvent, { steps }: Trace): boolean {
  if (steps.some(({ step }) => step === 'Redis failed over')) return true;
  const [first] = steps;
  return first?.step === 'accepted' && first.atMs >= sentAtMs - 50 && first.atMs <= acknowledgedAtMs + TOLERANCE_MS;
}

/** Steps without a time are at the end. */
function isInOrder(steps: readonly TracedStep[]): boolean {
  const timed = steps.filter(({ atMs, step }) => atMs > 0 && step !== 'woken');
  return timed.every(({ atMs }, at) => atMs >= (timed[at - 1]?.atMs ?? 0) - TOLERANCE_MS);
}

function namesOf(facts: Readonly<Record<string, boolean>>): string[] {
  return Object.entries(facts).flatMap(([fact, isWrong]) => (isWrong ? [fact] : []));
}

function tell(trace: Trace | undefined): string {
  const [first] = trace?.steps ?? [];
  const told = (trace?.steps ?? []).map(({ atMs, step, values }) =>
    [atMs === 0 ? '-' : atMs - (first?.atMs ?? 0), step, ...Object.values(values)].join(' '),
  );
  return `trace (${trace?.state ?? 'none'}): ${told.join(' | ')}`;
}
