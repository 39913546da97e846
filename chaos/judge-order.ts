import { kindOfText } from './judge-text.ts';
import type { Ledger, Sampling, SentEvent, SummaryCall, VisibleMessage, Violation } from './ledger.ts';

/**
 * Checks the order in each conversation: a question that was acknowledged before the next was sent reaches the model before
 * it (or together with it), and its answer is complete before the next question reaches the model. The history in a prompt
 * contains no question twice, none out of order, and nothing of another conversation; the same holds for summaries.
 */
export function judgeOrder(ledger: Ledger, answers: ReadonlyMap<number, VisibleMessage[]>): Violation[] {
  const winnerOf = (event: SentEvent) => winningSampling(ledger, answers.get(event.id)?.[0]);
  return [
    ...ledger.samplings.flatMap((sampling) => judgePrompt(ledger, sampling)),
    ...ledger.summaries.flatMap(judgeSummary),
    ...conversationsOf(ledger).flatMap(judgeSequence(winnerOf, ledger)),
  ];
}

/** The sampling whose text is in a message. */
export function winningSampling({ samplings }: Ledger, message: VisibleMessage | undefined): Sampling | undefined {
  const kind = kindOfText(message?.snapshots.at(-1)?.text ?? '');
  return kind.kind === 'answer' ? samplings[kind.sampling - 1] : undefined;
}

/** Unacknowledged questions are ignored: a frozen process may have stored them late. */
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
 * Whether a question follows another that was sent only after the question was acknowledged. Without acknowledgements
 * (WeCom's connection) a person who saw no response has sent the next message, and a process that resumes may store the
 * earlier one after the later.
 */
function isBefore(events: readonly SentEvent[], question: number, inFront: number | undefined): boolean {
  if (inFront === undefined || question > inFront) return false;
  const [earlier, later] = [events[question - 1], events[inFront - 1]];
  return earlier !== undefined && later !== undefined && wasAcknowledgedBefore(earlier, later);
}

function wasAcknowledgedBefore({ acknowledgedAtMs = Infinity }: SentEvent, { sentAtMs }: SentEvent): boolean {
  return acknowledgedAtMs <= sentAtMs;
}

/** Whether one began before the other was complete. */
function isBegunBefore({ startedAtMs }: Sampling, other: Sampling): boolean {
  return startedAtMs < (other.endedAtMs ?? other.startedAtMs);
}

/** A summary must be of one conversation. */
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
        // Questions that were stored late may be in either order, but still one at a time.
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

/** Acknowledged events by conversation, in the order in which they were sent. */
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

/** Whether `GROUP_SCOPE` changed between the two, or while one was sent: then they belong to different conversations. */
function isScopeBetween({ injectedFaults }: Ledger, earlier: SentEvent, later: SentEvent): boolean {
  return injectedFaults.some(
    ({ kind, detail, atMs, untilMs = Number.POSITIVE_INFINITY }) =>
      kind === 'roll' && detail === 'group-scope' && earlier.sentAtMs < untilMs && later.sentAtMs > atMs,
  );
}
