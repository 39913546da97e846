import { THOUGHT } from './engine-streams.ts';
import { judgeOrder, winningSampling } from './judge-order.ts';
import { judgeRest } from './judge-rest.ts';
import { kindOfText, saysInterrupted, type TextKind } from './judge-text.ts';
import { questionsIn, toldBy, type Ledger, type SentEvent, type Violation, type VisibleMessage } from './ledger.ts';

export interface Verdict {
  violations: Violation[];
  accepted: number;
  answered: number;
  merged: number;
  interrupted: number;
  /** By the name of the text. */
  apologies: Record<string, number>;
}

/** Maximum age of a fault that explains an apology: the chat client's circuit breaker uses the last 30 s. */
const EXPLAINED_WITHIN_MS = 60_000;

/**
 * Judges a whole run by its ledger: every acknowledged message is answered once, completely, in order and without anything
 * of another conversation; anything other than an answer is explained by an external fault.
 */
export function judge(ledger: Ledger): Verdict {
  const violations: Violation[] = [];
  const apologies: Record<string, number> = {};
  const answers = answersByQuestion(ledger);
  let interrupted = 0;
  let answered = 0;
  let merged = 0;
  const messagesOf = groupBy(ledger.messages, ({ event }) => event ?? 0);
  const accuse = (kind: Violation['kind'], event: number, detail: string) => violations.push({ kind, event, detail });

  for (const message of ledger.messages) {
    const fault = judgeMessage(ledger, message);
    if (fault) accuse(fault.kind, message.event ?? 0, fault.detail);
    const last = lastKind(message);
    if (last.kind === 'apology') apologies[last.name] = (apologies[last.name] ?? 0) + 1;
    if (last.kind === 'answer' && saysInterrupted(message.snapshots.at(-1)?.text ?? '')) interrupted += 1;
  }
  for (const event of ledger.events) {
    const own = (messagesOf.get(event.id) ?? []).map(lastKind);
    const found = answers.get(event.id) ?? [];
    const isApologised = own.some(({ kind }) => kind === 'apology') || isMergedIntoApology(event, messagesOf);
    // The answer to an invited person's question replaces the invitation; the sender of a code or command gets one reply
    // about it.
    const told = event.says === undefined ? 0 : own.filter(({ kind }) => kind === 'account').length;
    const isSorry = own.some(({ kind }) => kind === 'apology' || kind === 'gone');
    const count = found.length + told + (isSorry ? 1 : 0);
    if (count > 1) accuse('repeated', event.id, `it has ${count} visible answers`);
    if (event.acknowledgedAtMs === undefined) continue;
    if (count === 0 && !isApologised)
      accuse(
        'lost',
        event.id,
        `acknowledged, no visible answer; ledger: ${toldBy(event)}${whoseAnswer(ledger, event)}`,
      );
    if (count > 0 || isApologised) answered += 1;
    if (found.length > 0 && found[0]?.event !== event.id) merged += 1;
  }
  violations.push(...judgeOrder(ledger, answers), ...judgeRest(ledger));
  const accepted = ledger.events.filter(({ acknowledgedAtMs }) => acknowledgedAtMs !== undefined).length;
  return { violations, accepted, answered, merged, interrupted, apologies };
}

/** The final answers that name a question. */
export function answersByQuestion({ messages }: Ledger): Map<number, VisibleMessage[]> {
  const found = new Map<number, VisibleMessage[]>();
  for (const message of messages) {
    const text = message.snapshots.at(-1)?.text ?? '';
    if (kindOfText(text).kind !== 'answer') continue;
    for (const question of new Set(questionsIn(text))) found.set(question, [...(found.get(question) ?? []), message]);
  }
  return found;
}

/** @returns the first fault of a visible message, across everything that it ever showed */
function judgeMessage(ledger: Ledger, message: VisibleMessage): Omit<Violation, 'event'> | undefined {
  for (const { text } of message.snapshots) {
    if (text.includes(THOUGHT)) return { kind: 'unexplained', detail: 'it shows what the model thought' };
    const kind = kindOfText(text);
    if (kind.kind === 'broken') return { kind: 'joined', detail: kind.why };
    if (kind.kind === 'unknown') return { kind: 'unexplained', detail: `it says: ${text.slice(0, 120)}` };
    const stranger = questionsIn(text).find((id) => ledger.events[id - 1]?.conversation !== message.conversation);
    if (stranger !== undefined)
      return { kind: 'crossed', detail: `conversation C${message.conversation} shows the answer to Q${stranger}` };
  }
  const last = message.snapshots.at(-1);
  const kind = lastKind(message);
  // `judgeRest` reports every open message.
  if (!message.isFinal) return undefined;
  if (kind.kind === 'empty' || kind.kind === 'status')
    return { kind: 'unexplained', detail: `it ended ${kind.kind === 'empty' ? 'without a text' : 'with a status'}` };
  if (kind.kind === 'gone' && ledger.events[(message.event ?? 0) - 1]?.record !== undefined)
    return { kind: 'unexplained', detail: 'it asks for a retry although its message was accepted' };
  if (kind.kind === 'answer' && !kind.isWhole && !saysInterrupted(last?.text ?? ''))
    return { kind: 'joined', detail: 'it ended early without saying so' };
  const needsReason = kind.kind === 'apology' || kind.kind === 'moved' || (kind.kind === 'answer' && !kind.isWhole);
  if (!needsReason) return undefined;
  const why = kind.kind === 'apology' ? kind.name : kind.kind === 'moved' ? 'moved' : 'interrupted';
  if (why === 'deadLetter' && isOfPoison(ledger, message.event)) return undefined;
  // The engine broke the answer's own call off. A stored answer may be shown much later.
  const ending = winningSampling(ledger, message)?.ending;
  if (why === 'interrupted' && (ending === 'cut' || ending === 'stalled')) return undefined;
  // Later checks may write the same text again.
  const saidFirst = message.snapshots.find(({ text }) => text === last?.text);
  return isExplained(ledger, why, saidFirst?.atMs ?? 0)
    ? undefined
    : { kind: 'unexplained', detail: `it says ${why}, but no external fault occurred` };
}

/** Only a poison question may be given up, along with all questions of the same turn. */
function isOfPoison({ poisons, events }: Ledger, event: number | undefined): boolean {
  return poisons.some((poison) => poison === event || events[poison - 1]?.record?.answeredBy === event);
}

/** Only faults of the chat service, or on the way to it, explain an apology; our own crashes never do. */
function isExplained(ledger: Ledger, why: string, atMs: number): boolean {
  if (why === 'internal' || why === 'deadLetter' || why === 'expired') return false;
  const hasHappened = (wanted: 'kill-readers' | 'link' | 'refuse-writes', targets = /./) =>
    ledger.injectedFaults.some(
      ({ kind, target, atMs: fromMs, untilMs }) => kind === wanted && targets.test(target) && isNear(fromMs, untilMs),
    );
  const isNear = (fromMs: number, untilMs = fromMs) => fromMs <= atMs && untilMs >= atMs - EXPLAINED_WITHIN_MS;
  if (why === 'moved') return hasHappened('refuse-writes');
  if (why === 'not_read') return hasHappened('kill-readers');
  if (why === 'unreachable') return hasHappened('link', / (?:slack|platform)$/);
  const atService = ledger.samplings.some(
    ({ ending, startedAtMs, endedAtMs }) =>
      (ending === 'refused' || ending === 'cut' || ending === 'stalled') && isNear(startedAtMs, endedAtMs),
  );
  return atService || hasHappened('link', / chat$/);
}

/**
 * If answers are posted, a merged event has no message of its own; the product's record names the event whose answer it
 * shares.
 */
function isMergedIntoApology({ id, record }: SentEvent, messagesOf: Map<number, VisibleMessage[]>): boolean {
  const into = record?.answeredBy;
  if (into === undefined || into === id) return false;
  return (messagesOf.get(into) ?? []).some((message) => lastKind(message).kind === 'apology');
}

function lastKind({ snapshots }: VisibleMessage): TextKind {
  return kindOfText(snapshots.at(-1)?.text ?? '');
}

/** Reports if the message with the answer never reached the platform's side, where it would be visible. */
function whoseAnswer({ events }: Ledger, { id, record }: SentEvent): string {
  const into = events[(record?.answeredBy ?? id) - 1];
  return into === undefined || into.acknowledgedAtMs !== undefined ? '' : ', which was never acknowledged';
}

function groupBy<T>(items: readonly T[], key: (item: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}
