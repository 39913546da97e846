import { answersByQuestion } from './judge.ts';
import { kindOfText } from './judge-text.ts';
import type { InjectedFault, InjectedFaultKind, Ledger, VisibleMessage } from './ledger.ts';

/** A WeCom poll sees a visible end up to a second late; a kill within that second affected nothing. */
const SEEN_LATE_MS = 1_200;

/** Time of an answer after the last fault that affected it. */
export interface Recovery {
  event: number;
  ms: number;
  /** The same after the last fault that stopped the process responsible for the turn: a kill, a freeze or a lost link to Redis. */
  afterLastStopMs: number;
  /**
   * No part was visible before: on platforms where we post, the first post may have been in progress and is searched for.
   */
  isDoubtful: boolean;
  /**
   * Between the fault and the answer the engine refused calls because it was full, or the responsible worker could not reach
   * it, or Redis hung or refused writes, and the answer had to wait.
   */
  hasWaited: boolean;
}

/** From when a worker's life was responsible for a question. */
interface Holding {
  holder: string;
  fromMs: number;
  /** Whether it took over the turn from a worker that died. */
  isTakenOver: boolean;
}

/**
 * Time from the last fault of a kind that affected the responsible worker until the answer (or an apology in its place) was
 * complete and visible; a restart of Redis after the first such fault counts as one, and so does a kill of a receiver between
 * the end of a WeCom turn and the poll that shows it. A worker is responsible from its claim
 * until another worker claims the turn or it is shown. Where its claims are unknown, a worker is responsible from its claim of
 * an abandoned turn, or from the model call, and the time of one that died in between counts from the first fault on any
 * worker since the question was sent, so that it is overestimated rather than underestimated. Milliseconds, unsorted.
 */
export function recoveryTimes(ledger: Ledger, kind: InjectedFaultKind): Recovery[] {
  const spanOf = spansByQuestion(ledger);
  const injectedFaults = ledger.injectedFaults.filter(
    (injectedFault) => injectedFault.kind === kind && injectedFault.target.startsWith('worker'),
  );
  return [...holdingsByQuestion(ledger)].flatMap(([event, holdings]) => {
    const span = spanOf.get(event);
    // A poison question is given up only after it has killed several workers.
    if (span === undefined || ledger.poisons.includes(event)) return [];
    const { firstAtMs, lastAtMs: shownAtMs } = span;
    const hitsMs = holdings.flatMap(({ holder, fromMs }, index) => {
      const untilMs = holdings[index + 1]?.fromMs ?? shownAtMs - SEEN_LATE_MS;
      return injectedFaults
        .filter(({ target, atMs }) => target === holder && atMs >= fromMs && atMs <= untilMs && atMs < shownAtMs)
        .map(({ atMs }) => atMs);
    });
    const [first] = holdings;
    if (hitsMs.length === 0 && kind === 'kill' && first?.isTakenOver === true) {
      const sentAtMs = ledger.events[event - 1]?.sentAtMs ?? first.fromMs;
      const injectedFault = injectedFaults.find(({ atMs }) => atMs >= sentAtMs && atMs <= first.fromMs);
      if (injectedFault) hitsMs.push(injectedFault.atMs);
    }
    if (hitsMs.length === 0) return [];
    const firstHitMs = Math.min(...hitsMs);
    const endedAtMs = pollableFromMs(ledger, event);
    for (const { kind: what, target, atMs } of ledger.injectedFaults) {
      // A restart of Redis hits all turns under way.
      const isHit = what === 'redis-kill' || (what === kind && target.startsWith('receiver') && atMs >= endedAtMs);
      if (isHit && atMs >= firstHitMs && atMs < shownAtMs) hitsMs.push(atMs);
    }
    const hitAtMs = Math.max(...hitsMs);
    const isDoubtful = ledger.events[event - 1]?.platform === 'slack' && hitAtMs < firstAtMs;
    const holders = holdings.filter((_, index) => (holdings[index + 1]?.fromMs ?? shownAtMs) >= hitAtMs);
    const isElsewhere = ({ kind: what, target }: InjectedFault) =>
      /^(?:engine-full|redis-freeze|redis-refuse)$/.test(what) ||
      (what === 'link' && holders.some(({ holder }) => target === `${holder} chat`));
    const hasWaited = ledger.injectedFaults.some(
      (fault) => isElsewhere(fault) && (fault.untilMs ?? fault.atMs) >= hitAtMs && fault.atMs <= shownAtMs,
    );
    const stopsMs = stopsOf(ledger, holdings, { endedAtMs, shownAtMs }).filter((atMs) => atMs > hitAtMs);
    const afterLastStopMs = shownAtMs - Math.max(hitAtMs, ...stopsMs);
    return [{ event, ms: shownAtMs - hitAtMs, afterLastStopMs, isDoubtful, hasWaited }];
  });
}

/** Starts of faults that stopped a worker while it was responsible, or a receiver while only the display was missing. */
function stopsOf(
  { injectedFaults }: Ledger,
  holdings: readonly Holding[],
  { endedAtMs, shownAtMs }: { endedAtMs: number; shownAtMs: number },
): number[] {
  const isWithin = (atMs: number, fromMs: number, untilMs: number) => atMs >= fromMs && atMs <= untilMs;
  const stops = injectedFaults.filter(isStop);
  return stops.flatMap(({ target, atMs }) => {
    const [process = ''] = target.split(' ');
    const isHit = process.startsWith('receiver')
      ? isWithin(atMs, endedAtMs, shownAtMs)
      : holdings.some(
          ({ holder, fromMs }, index) =>
            holder === process && isWithin(atMs, fromMs, holdings[index + 1]?.fromMs ?? shownAtMs - SEEN_LATE_MS),
        );
    return isHit ? [atMs] : [];
  });
}

/** A process that is frozen or cannot reach Redis makes no progress with the turn; one with a slow link does. */
function isStop({ kind, target, detail }: InjectedFault): boolean {
  return kind === 'freeze' || (kind === 'link' && target.endsWith(' redis') && /"(?:hold|cut|reset)"/.test(detail));
}

/** From when only a receiver is missing to show the end of an answer; never for one that a worker posts. */
function pollableFromMs({ events }: Ledger, event: number): number {
  const { platform, record } = events[event - 1] ?? {};
  if (platform !== 'wecom') return Number.POSITIVE_INFINITY;
  const [trace] = events[(record?.answeredBy ?? event) - 1]?.traces ?? [];
  return trace?.steps.findLast(({ step }) => step === 'ended')?.atMs ?? Number.POSITIVE_INFINITY;
}

/**
 * Times of the first snapshot of each question's answer and of the last one that changed its text, or those of the apology
 * in its own message.
 */
function spansByQuestion(ledger: Ledger): Map<number, { firstAtMs: number; lastAtMs: number }> {
  const spans = new Map<number, { firstAtMs: number; lastAtMs: number }>();
  const note = (question: number, message: VisibleMessage | undefined) => {
    const [first, last] = [message?.snapshots[0], lastChangeOf(message?.snapshots ?? [])];
    if (first && last) spans.set(question, { firstAtMs: first.atMs, lastAtMs: last.atMs });
  };
  for (const message of ledger.messages)
    if (message.event !== undefined && kindOfText(message.snapshots.at(-1)?.text ?? '').kind === 'apology')
      note(message.event, message);
  for (const [question, [answer]] of answersByQuestion(ledger)) note(question, answer);
  return spans;
}

/**
 * The snapshot after which the answer did not change: writing it again, or the line below it, as deferred reconciliation does,
 * changes nothing for its reader.
 */
export function lastChangeOf(snapshots: VisibleMessage['snapshots']): VisibleMessage['snapshots'][number] | undefined {
  const answerOf = (text: string | undefined) => text?.replace(/(?<=\bS\d+end)\s[\s\S]*$/, '');
  return snapshots.findLast(({ text }, index) => answerOf(text) !== answerOf(snapshots[index - 1]?.text));
}

/** Workers responsible for each question, in order. A turn is named by its newest question; merged questions share it. */
export function holdingsByQuestion({ samplings, resumptions, events, instances = {} }: Ledger): Map<number, Holding[]> {
  const holdings = new Map<number, Holding[]>();
  const turns = new Map<number, Set<number>>();
  const add = (question: number, holding: Holding) =>
    holdings.set(question, [...(holdings.get(question) ?? []), holding]);
  for (const { worker, asked, startedAtMs } of samplings) {
    const newest = asked.at(-1) ?? 0;
    turns.set(newest, new Set([...(turns.get(newest) ?? []), ...asked]));
    for (const question of asked) add(question, { holder: worker, fromMs: startedAtMs, isTakenOver: false });
  }
  for (const { worker, turn, atMs } of resumptions)
    for (const question of turns.get(turn) ?? [turn])
      add(question, { holder: worker, fromMs: atMs, isTakenOver: true });
  // The product's own list of claims leaves out none, but a life that logged nothing is unknown.
  for (const { id, record } of events) {
    const claims = events[(record?.answeredBy ?? id) - 1]?.record?.claims ?? [];
    const known = claims.flatMap(({ atMs, instance }) => {
      const holder = instances[instance];
      return holder === undefined ? [] : [{ holder, fromMs: atMs, isTakenOver: false }];
    });
    if (known.length > 0 && known.length === claims.length) holdings.set(id, known);
  }
  for (const own of holdings.values()) own.sort((left, right) => left.fromMs - right.fromMs);
  return holdings;
}

/** Value below which `share` of the values lie; NaN for none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
