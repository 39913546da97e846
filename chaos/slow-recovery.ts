import { answersByQuestion } from './judge.ts';
import { winningSampling } from './judge-order.ts';
import type { InjectedFault, Ledger, Sampling, SentEvent } from './ledger.ts';
import { holdingsByQuestion, lastChangeOf } from './recovery.ts';

/** How a turn came back after the last fault that touched it. */
export interface SlowRecovery {
  event: number;
  /** What that fault was, by a short name. */
  injectedFault: string;
  /** Time after the fault's end in which the answer was neither being written by the model nor whole and visible. */
  ms: number;
}

/** A WeCom poll sees an end up to a second late, and on a slow way later; a receiver's fault touches what is seen in this time. */
const SEEN_WITHIN_MS = 10_000;

/**
 * For each question that a fault touched: how long it lay idle afterwards. The model's own time does not count: an answer of 90 s
 * that begins at once lay idle for nothing. Milliseconds, unsorted.
 */
export function slowRecoveries(ledger: Ledger): SlowRecovery[] {
  const answers = answersByQuestion(ledger);
  const holdings = holdingsByQuestion(ledger);
  return ledger.events.flatMap((event) => {
    const message = answers.get(event.id)?.[0];
    const sampling = winningSampling(ledger, message);
    const shownAtMs = lastChangeOf(message?.snapshots ?? [])?.atMs;
    if (!sampling || shownAtMs === undefined || event.acknowledgedAtMs === undefined) return [];
    const own = holdings.get(event.id) ?? [];
    const holders = own.map(({ holder, fromMs }, index) => ({
      ...{ holder, fromMs },
      untilMs: own[index + 1]?.fromMs ?? shownAtMs,
    }));
    const touching = ledger.injectedFaults.filter((injectedFault) =>
      touches(injectedFault, { event, sampling, shownAtMs, holders }),
    );
    const last = touching.sort((left, right) => endOf(left) - endOf(right)).at(-1);
    if (!last || endOf(last) >= shownAtMs) return [];
    // An answer waits for the one ahead in its conversation, as it should.
    const fromMs = Math.max(endOf(last), endAhead(ledger, sampling));
    return [{ event: event.id, injectedFault: nameOf(last), ms: Math.max(0, idleMs(fromMs, shownAtMs, sampling)) }];
  });
}

function endAhead({ samplings }: Ledger, { number, conversation, asked, startedAtMs }: Sampling): number {
  const ahead = samplings.filter(
    (other) =>
      other.number < number &&
      other.conversation === conversation &&
      other.ending === 'whole' &&
      !other.asked.some((question) => asked.includes(question)),
  );
  return Math.max(0, ...ahead.map(({ endedAtMs = 0 }) => Math.min(endedAtMs, startedAtMs)));
}

interface Way {
  event: SentEvent;
  sampling: Sampling;
  shownAtMs: number;
  holders: { holder: string; fromMs: number; untilMs: number }[];
}

function touches(injectedFault: InjectedFault, { event, sampling, shownAtMs, holders }: Way): boolean {
  const isWithin = (fromMs: number, untilMs: number) => injectedFault.atMs <= untilMs && endOf(injectedFault) >= fromMs;
  const [target = ''] = injectedFault.target.split(' ');
  if (target.startsWith('worker'))
    return holders.some(({ holder, fromMs, untilMs }) => holder === target && isWithin(fromMs, untilMs));
  if (target.startsWith('receiver')) {
    const seenFromMs = (sampling.endedAtMs ?? shownAtMs) - SEEN_WITHIN_MS;
    return event.platform === 'wecom' && isWithin(Math.max(seenFromMs, event.acknowledgedAtMs ?? 0), shownAtMs);
  }
  if (injectedFault.kind === 'slack-late' && event.platform !== 'slack') return false;
  // Its parts, the stops, are counted each for itself.
  return injectedFault.kind !== 'roll' && isWithin(event.acknowledgedAtMs ?? event.sentAtMs, shownAtMs);
}

function idleMs(fromMs: number, untilMs: number, { startedAtMs, endedAtMs = untilMs }: Sampling): number {
  const writingMs = Math.max(0, Math.min(untilMs, endedAtMs) - Math.max(fromMs, startedAtMs));
  return Math.round(untilMs - fromMs - writingMs);
}

/** One that a kill cut short ended with the process. */
function endOf({ atMs, untilMs = atMs }: InjectedFault): number {
  return untilMs;
}

/** `worker redis hold back`, `freeze of a worker`, `redis-refuse full`. */
export function nameOf({ kind, target, detail }: Pick<InjectedFault, 'kind' | 'target' | 'detail'>): string {
  const [life = '', link] = target.split(' ');
  const role = life.replace(/\d+\.\d+$/, '');
  if (link !== undefined) {
    const { kind: fault, way, late, heals } = JSON.parse(detail) as Record<string, unknown>;
    const words = [fault, way, late === true ? 'late' : '', heals === false ? 'for good' : ''];
    return [role, link, ...words].filter((word) => typeof word === 'string' && word !== '').join(' ');
  }
  if (target === 'surroundings') return kind;
  if (kind === 'redis-refuse' || kind === 'roll') return `${kind} ${detail}`;
  return kind.startsWith('redis') || kind === 'slack-late' ? kind : `${kind} of a ${role}`;
}
