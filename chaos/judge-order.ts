import { kindOfText } from './judge-text.ts';
import type { Ledger, Sampling, SentEvent, SummaryCall, VisibleMessage, Violation } from './ledger.ts';

/**
 * Order in each conversation: what was acknowledged before the next was sent is asked of the model before it (or together
 * with it), and its answer is whole before the next is asked. The history in a prompt holds no question twice, none in
 * another order, and nothing of another conversation; no more does a summary.
 */
export function judgeOrder(ledger: Ledger, answers: ReadonlyMap<number, VisibleMessage[]>): Violation[] {
  const winnerOf = (event: SentEvent) => winningSampling(ledger, answers.get(event.id)?.[0]);
  return [
    ...ledger.samplings.flatMap((sampling) => judgePrompt(ledger, sampling)),
    ...ledger.summaries.flatMap(judgeSummary),
    ...conversationsOf(ledger).flatMap(judgeSequence(winnerOf, ledger)),
  ];
}

/** The sampling whose text stands in a message. */
export function winningSampling({ samplings }: Ledger, message: VisibleMessage | undefined): Sampling | undefined {
  const kind = kindOfText(message?.snapshots.at(-1)?.text ?? '');
  return kind.kind === 'answer' ? samplings[kind.sampling - 1] : undefined;
}

/** What nobody acknowledged may have been stored late, by a process that was frozen; it has no place in any order. */
function judgePrompt({ events }: Ledger, { inPrompt, foreign, asked, number }: Sampling): Violation[] {
  const event = asked.at(-1) ?? 0;
  const faults: Violation[] = [];
  const ordered = inPrompt.filter((question) => events[question - 1]?.acknowledgedAtMs !== undefined);
  const runs = `the prompt of S${number} runs ${inPrompt.map((question) => `Q${question}`).join(' ')}`;
  if (foreign.length > 0)
    faults.push({ kind: 'crossed', event, detail: `the prompt of S${number} holds C${foreign.join(', C')}` });
  if (new Set(inPrompt).size < inPrompt.length) faults.push({ kind: 'repeated', event, detail: runs });
  else if (ordered.some((question, index) => isBefore(events, question, ordered[index - 1])))
    faults.push({ kind: 'out of order', event, detail: runs });
  return faults;
}

/**
 * Whether a question that was acknowledged before another was sent stands behind it. Where nothing acknowledges (WeCom's connection),
 * whoever saw no sign has written on: a process that wakes may store the earlier one behind the later.
 */
function isBefore(events: readonly SentEvent[], question: number, inFront: number | undefined): boolean {
  if (inFront === undefined || question > inFront) return false;
  const [earlier, later] = [events[question - 1], events[inFront - 1]];
  return earlier !== undefined && later !== undefined && wasAcknowledgedBefore(earlier, later);
}

function wasAcknowledgedBefore({ acknowledgedAtMs = Infinity }: SentEvent, { sentAtMs }: SentEvent): boolean {
  return acknowledgedAtMs <= sentAtMs;
}

/** Whether one began before the other was whole. */
function isBegunBefore({ startedAtMs }: Sampling, other: Sampling): boolean {
  return startedAtMs < (other.endedAtMs ?? other.startedAtMs);
}

/** A summary is made of one conversation. */
function judgeSummary({ conversations }: SummaryCall): Violation[] {
  if (conversations.length === 1) return [];
  return [{ kind: 'crossed', event: 0, detail: `a summary was made of C${conversations.join(', C')}` }];
}

function judgeSequence(
  winnerOf: (event: SentEvent) => Sampling | undefined,
  ledger: Ledger,
): (events: SentEvent[]) => Violation[] {
  return (events) => {
    const faults: Violation[] = [];
    let before: { event: SentEvent; sampling: Sampling } | undefined;
    for (const event of events) {
      const sampling = winnerOf(event);
      if (!sampling) continue;
      const isLate =
        before !== undefined &&
        before.sampling !== sampling &&
        !isScopeBetween(ledger, before.event, event) &&
        isBegunBefore(sampling, before.sampling) &&
        // Of what was stored late either may be first, and still one at a time.
        (wasAcknowledgedBefore(before.event, event) || isBegunBefore(before.sampling, sampling));
      if (before && isLate) {
        const detail = `S${sampling.number} began before S${before.sampling.number} of Q${before.event.id} was whole`;
        faults.push({ kind: 'out of order', event: event.id, detail });
      }
      before = { event, sampling };
    }
    return faults;
  };
}

/** Acknowledged events by conversation, as they were sent. */
function conversationsOf({ events }: Ledger): SentEvent[][] {
  const byConversation = new Map<number, SentEvent[]>();
  for (const event of events) {
    if (event.acknowledgedAtMs === undefined) continue;
    const own = byConversation.get(event.conversation);
    if (own) own.push(event);
    else byConversation.set(event.conversation, [event]);
  }
  return [...byConversation.values()];
}

/** What `GROUP_SCOPE` names a group's conversation changed between the two, or while one was sent: then they are of two conversations. */
function isScopeBetween({ injectedFaults }: Ledger, earlier: SentEvent, later: SentEvent): boolean {
  return injectedFaults.some(
    ({ kind, detail, atMs, untilMs = Number.POSITIVE_INFINITY }) =>
      kind === 'roll' && detail === 'group-scope' && earlier.sentAtMs < untilMs && later.sentAtMs > atMs,
  );
}
