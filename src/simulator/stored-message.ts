import type { MessageView } from './api.ts';

/** A person's message for the bot: everything that a retry needs to repeat the same delivery. */
export interface DeliveryPart {
  /** The secret in the message's `response_url`. */
  responseCode: string;
  /** The quoted message, for the bot. Image URLs are created for each delivery, because they expire. */
  quoted?: { text: string; imageIds: string[]; fileIds?: string[] };
}

/** The bot's growing answer to one message. */
export interface AnswerPart {
  streamId: string;
  /** The message that is answered, and its author. */
  questionId: string;
  person: string;
  /** Time at which the platform stops polling. */
  untilMs: number;
  feedbackId?: string;
  /** The message that contains the complete answer, if this one could no longer grow. */
  insteadId?: string;
}

/** Slack's state of a message. */
export interface SlackPart {
  /** Id within its channel: seconds with six decimals. */
  ts: string;
  /** For a reply: the first message of its thread. */
  threadTs?: string;
  /** A bot's text as it was sent, with markup. */
  raw?: string;
  metadata?: { event_type: string; event_payload: Record<string, unknown> };
  /** Start time of a native stream that is still growing. */
  streamSinceMs?: number;
  isStoppedByUser?: true;
  /** The blocks of a bot's message, each with its id. */
  blocks?: readonly Readonly<Record<string, unknown>>[];
  /** The person's message that it answers, as far as the messenger can tell. */
  questionId?: string;
  /** Files of the bot in this message. */
  fileIds?: string[];
  /** A command, a response to one, or an ephemeral message: not a message of the channel. */
  isCommand?: true;
}

/** A stored message: the page's view, and the platform's state. */
export interface StoredMessage extends MessageView {
  imageIds?: string[];
  fileIds?: string[];
  delivery?: DeliveryPart;
  answer?: AnswerPart;
  slack?: SlackPart;
  /** The only person who sees it. */
  onlyFor?: string;
  /** The card as the bot sent it: the common version, and versions for certain people. */
  cards?: { all: unknown; own: Readonly<Record<string, unknown>> };
  /** The view of people with their own version. */
  drawnFor?: Readonly<Record<string, Pick<MessageView, 'card' | 'buttons' | 'text'>>>;
  /** Thumbs that each person pressed, by button ids. */
  pressed?: Readonly<Record<string, readonly string[]>>;
}

/** Whether a message is visible to a member of its conversation. */
export function isSeenBy({ onlyFor }: Pick<StoredMessage, 'onlyFor'>, personId: string): boolean {
  return onlyFor === undefined || onlyFor === personId;
}

/** The page's view of a message. @param readerId the reader; defaults to a view for no particular person */
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

/** Markup at the beginning of a line: headings, quotations, fences and rows. It means nothing when lines are joined. */
const LINE_MARKS = /^[ \t]*(?:(?:#{1,6}|>)(?:[ \t]|$))+|^[ \t]*(?:`{3}|~{3}).*$|\|/gm;

/** More than any list shows, so that truncated markup or addresses are not visible; the page truncates the visible text. */
const MAX_LINE_CHARS = 500;

/** The conversation list shows about as much of a line; further growth of an answer does not change it. */
const VISIBLE_LINE_CHARS = 80;

/** Whether a growing answer's line in the conversation list no longer changes. */
export function isLineComplete({ text }: Pick<StoredMessage, 'text'>): boolean {
  return text.length >= VISIBLE_LINE_CHARS;
}

/** Placeholder for a message without text. */
function markOf({ images, files = [] }: StoredMessage): string {
  if (images.length > 0) return '🖼';
  return files.length > 0 ? `📄 ${files.map(({ name }) => name).join(', ')}` : '…';
}

/**
 * One line for the conversation list: markdown without line breaks. Inline markup stays, because only the page can
 * distinguish it from text.
 */
export function lastLineOf(message: StoredMessage, inGroup: boolean): string {
  const text = message.text.replace(LINE_MARKS, ' ').replace(/\s+/g, ' ').trim();
  const shown = [...text].slice(0, MAX_LINE_CHARS).join('') || markOf(message);
  return inGroup && message.sender !== 'system' ? `${message.senderName}: ${shown}` : shown;
}
