import { MINUTE_MS } from '../../shared/clock.ts';
import type { MessageView } from '../api.ts';
import { rowKeyOf, type LoggedMessage } from './message-log.ts';

/** A message with its position among neighbouring messages of the same sender. */
export interface PlacedMessage<Message extends MessageView = MessageView> {
  message: Message;
  /** First of a run: shows the sender's name and avatar. */
  startsRun: boolean;
}

/** The messages of one calendar day, under one separator. */
export interface DayOfMessages<Message extends MessageView = MessageView> {
  key: string;
  atMs: number;
  placed: PlacedMessage<Message>[];
}

const RUN_GAP_MS = 5 * MINUTE_MS;

/** Splits messages (oldest first) into days, and each day into runs of one sender without a five-minute pause. */
export function groupMessages<Message extends MessageView>(
  messages: readonly Message[],
  dayKeyOf: (atMs: number) => string,
): DayOfMessages<Message>[] {
  const days: DayOfMessages<Message>[] = [];
  for (const message of messages) {
    const key = dayKeyOf(message.atMs);
    const current = days.at(-1);
    if (current?.key === key) {
      const before = current.placed.at(-1)?.message;
      current.placed.push({ message, startsRun: before === undefined || !sameRun(before, message) });
    } else {
      days.push({ key, atMs: message.atMs, placed: [{ message, startsRun: true }] });
    }
  }
  return days;
}

/** A system line, messages without a system line between them, or the marker of the first unread message. */
export type Stretch<Message extends MessageView = MessageView> =
  { kind: 'note'; message: Message } | { kind: 'messages'; placed: PlacedMessage<Message>[] } | { kind: 'unread' };

/** Splits a day at everything that is not a message: such elements are placed between the lists of messages. */
export function splitForDisplay(
  placed: readonly PlacedMessage<LoggedMessage>[],
  { isNote, firstUnreadKey }: { isNote(message: MessageView): boolean; firstUnreadKey: string | undefined },
): Stretch<LoggedMessage>[] {
  const stretches: Stretch<LoggedMessage>[] = [];
  for (const one of placed) {
    if (rowKeyOf(one.message) === firstUnreadKey) stretches.push({ kind: 'unread' });
    const last = stretches.at(-1);
    if (isNote(one.message)) stretches.push({ kind: 'note', message: one.message });
    else if (last?.kind === 'messages') last.placed.push(one);
    else stretches.push({ kind: 'messages', placed: [one] });
  }
  return stretches;
}

function sameRun(before: MessageView, message: MessageView): boolean {
  return before.sender === message.sender && message.atMs - before.atMs < RUN_GAP_MS;
}
