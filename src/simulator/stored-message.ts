import type { MessageView } from './api.ts';

/** A person's message that the bot is to hear of: what a repetition needs to be the very same delivery. */
export interface DeliveryPart {
  /** The secret in the message's `response_url`. */
  responseCode: string;
  /** What the message quotes, for the bot. Image addresses are made anew for each delivery, since they expire. */
  quoted?: { text: string; imageIds: string[]; fileIds?: string[] };
}

/** The bot's growing answer to one message. */
export interface AnswerPart {
  streamId: string;
  /** The message that is answered, and who wrote it. */
  questionId: string;
  person: string;
  /** From here on the platform polls no more. */
  untilMs: number;
  feedbackId?: string;
  /** The message that brought the whole answer, where this one could not grow any more. */
  insteadId?: string;
}

/** What Slack remembers of a message. */
export interface SlackPart {
  /** Its id in its channel: seconds with six decimals. */
  ts: string;
  /** Of a reply: the message under which its thread hangs. */
  threadTs?: string;
  /** A bot's text as it was sent, with marks. */
  raw?: string;
  metadata?: { event_type: string; event_payload: Record<string, unknown> };
  /** Of a native stream that still grows: when it was started. */
  streamSinceMs?: number;
  isStoppedByUser?: true;
  /** The blocks of a bot's message, each with its id. */
  blocks?: readonly Readonly<Record<string, unknown>>[];
  /** The person's message that it answers, as far as the messenger can tell. */
  questionId?: string;
  /** Files of the bot that it holds. */
  fileIds?: string[];
  /** A command, what answers one, or what one person alone is told: no message of the channel. */
  isCommand?: true;
}

/** A message as it is kept: what the page sees, and what the platform's side has to remember. */
export interface StoredMessage extends MessageView {
  imageIds?: string[];
  fileIds?: string[];
  delivery?: DeliveryPart;
  answer?: AnswerPart;
  slack?: SlackPart;
  /** The only person who sees it. */
  onlyFor?: string;
  /** A card as the bot sent it: for all, and for those who see it otherwise. */
  cards?: { all: unknown; own: Readonly<Record<string, unknown>> };
  /** What those who see it otherwise see. */
  drawnFor?: Readonly<Record<string, Pick<MessageView, 'card' | 'buttons' | 'text'>>>;
  /** The thumbs that each person pressed, by the ids of the buttons. */
  pressed?: Readonly<Record<string, readonly string[]>>;
}

/** Whether somebody sees a message of a conversation that they are in. */
export function isSeenBy({ onlyFor }: Pick<StoredMessage, 'onlyFor'>, personId: string): boolean {
  return onlyFor === undefined || onlyFor === personId;
}

/** What the page may see of a message. @param readerId for whom it is drawn; nobody in particular unless told */
export function viewOf(message: StoredMessage, readerId?: string): MessageView {
  const {
    imageIds: _imageIds,
    fileIds: _fileIds,
    delivery: _delivery,
    answer: _answer,
    slack,
    onlyFor,
    pressed,
    cards: _cards,
    drawnFor,
    ...forAll
  } = message;
  const view = { ...forAll, ...drawnFor?.[readerId ?? ''] };
  const own = pressed?.[readerId ?? ''] ?? [];
  const isOwn = readerId !== undefined && view.sender === readerId;
  const isAmendable =
    slack !== undefined && slack.isCommand !== true && view.isDeleted !== true && view.state === 'sent';
  return {
    ...view,
    buttons: view.buttons?.map((row) => row.map((one) => (own.includes(one.id) ? { ...one, isPressed: true } : one))),
    isOnlyForYou: (onlyFor !== undefined && view.sender === 'bot') || undefined,
    canAmend: (isOwn && isAmendable) || undefined,
  };
}

/** What makes a line a heading, a quotation, a fence or a row; on one line with others it means nothing. */
const LINE_MARKS = /^[ \t]*(?:(?:#{1,6}|>)(?:[ \t]|$))+|^[ \t]*(?:`{3}|~{3}).*$|\|/gm;

/** More than any list shows, so that a mark or an address that is cut in two is out of sight; the page cuts what is seen. */
const MAX_LINE_CHARS = 500;

/** What stands for a message without words. */
function markOf({ images, files = [] }: StoredMessage): string {
  if (images.length > 0) return '🖼';
  return files.length > 0 ? `📄 ${files.map(({ name }) => name).join(', ')}` : '…';
}

/** One line for the list of conversations: markdown without line breaks. Marks within it stay, since only the page tells them from letters. */
export function lastLineOf(message: StoredMessage, inGroup: boolean): string {
  const text = message.text.replace(LINE_MARKS, ' ').replace(/\s+/g, ' ').trim();
  const shown = [...text].slice(0, MAX_LINE_CHARS).join('') || markOf(message);
  return inGroup && message.sender !== 'system' ? `${message.senderName}: ${shown}` : shown;
}
