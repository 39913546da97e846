import type { Delivery } from '../platform.ts';
import type { InboundMessage, Sender, Chat } from '../../domain/message.ts';
import { FEEDBACK_REASONS, type InboundFeedback } from '../../domain/feedback.ts';
import { asDeliveryId } from '../../domain/ids.ts';
import { EMPTY_ANSWER, type AnswerBuilder } from './callback-answers.ts';
import { readMessageContent } from './read-content.ts';
import type { MentionStripper } from './strip-mention.ts';
import { wireEnvelope, wireEvent, wirePoll, type WireEnvelope, type WireFeedback } from './wire-message.ts';

export interface ReadOptions {
  tenant: string;
  app: string;
  /** The bot's name as shown in WeCom. */
  botName: string;
  mention: MentionStripper;
  /** When WeCom sent the delivery, by WeCom's clock; a message itself has no time. Milliseconds; absent if unknown. */
  sentAtMs?: number;
  /** The platform's handle for a later answer; undefined if there is none. */
  laterReplyHandle(envelope: WireEnvelope, chat: Chat): string | undefined;
}

/** Sender of WeCom's own messages in a chat. */
const SYSTEM_SENDER = 'sys';
const OWN_ID = /^[0-9a-f]{40}$/;
const VERDICTS = new Map([
  [1, 'good'],
  [2, 'bad'],
  [3, 'withdrawn'],
] as const);

/**
 * Reads a verified callback. Unreadable or unwanted content is `ignored`: always answered with the same empty 200 and
 * otherwise without effect (SECURITY.md quiet-ignorance).
 * @param parsed its JSON; undefined if it is not JSON
 */
export function readDelivery(parsed: unknown, answers: AnswerBuilder, options: ReadOptions): Delivery {
  const envelope = wireEnvelope.safeParse(parsed);
  if (!envelope.success) return ignored('unreadable callback');
  const { from, msgtype } = envelope.data;
  if (from.userid === SYSTEM_SENDER) return ignored('said by the platform');
  const chat = chatOf(envelope.data);
  if (!chat) return ignored('group without an id');
  const sender = { userId: from.userid };

  if (msgtype === 'event') return readEvent(parsed, { chat, sender }, { answers, options });
  if (msgtype === 'stream') return readPoll(parsed, { chat, sender }, answers);
  return readMessage(parsed, { envelope: envelope.data, chat, sender, answers, options });
}

export function ignored(reason: string): Delivery {
  return { kind: 'ignored', reason, answer: EMPTY_ANSWER };
}

function chatOf({ chattype, chatid, from }: WireEnvelope): Chat | undefined {
  if (chattype === 'single') return { kind: 'private', id: from.userid };
  return chatid === undefined ? undefined : { kind: 'group', id: chatid };
}

function readEvent(
  parsed: unknown,
  { chat, sender }: { chat: Chat; sender: Sender },
  { answers, options: { botName } }: { answers: AnswerBuilder; options: ReadOptions },
): Delivery {
  const read = wireEvent.safeParse(parsed);
  if (!read.success) return ignored('unreadable event');
  const { eventtype, feedback_event: nested, ...flat } = read.data.event;
  if (eventtype === 'enter_chat') return { kind: 'entered-chat', sender, botName, answer: answers.welcome };
  if (eventtype !== 'feedback_event') return ignored('unwanted event');
  const feedback = feedbackOf(nested ?? flat);
  return feedback
    ? { kind: 'feedback', feedback: { chat, sender, ...feedback }, answer: EMPTY_ANSWER }
    : ignored('unknown feedback');
}

/** Reason codes start at 1 and have this order (PLATFORM_FACTS.md wecom-events). */
function feedbackOf({
  id,
  type,
  content,
  inaccurate_reason_list: codes = [],
}: WireFeedback): Pick<InboundFeedback, 'answer' | 'verdict' | 'reasons' | 'words'> | undefined {
  const verdict = VERDICTS.get(type as 1 | 2 | 3);
  if (!verdict) return undefined;
  const reasons = verdict === 'bad' ? FEEDBACK_REASONS.filter((_, index) => codes.includes(index + 1)) : [];
  // All our ids have the same form.
  const answer = id !== undefined && OWN_ID.test(id) ? asDeliveryId(id) : undefined;
  return { answer, verdict, reasons, words: content };
}

function readPoll(parsed: unknown, place: { chat: Chat; sender: Sender }, answers: AnswerBuilder): Delivery {
  const read = wirePoll.safeParse(parsed);
  if (!read.success) return ignored('poll without an id');
  return { kind: 'poll', replyId: asDeliveryId(read.data.stream.id), ...place, answer: answers.poll };
}

interface MessageContext {
  envelope: WireEnvelope;
  chat: Chat;
  sender: Sender;
  answers: AnswerBuilder;
  options: ReadOptions;
}

function readMessage(parsed: unknown, { envelope, chat, sender, answers, options }: MessageContext): Delivery {
  const content = readMessageContent(parsed, chat.kind === 'group' ? options.mention : undefined);
  if (!content) return ignored('unknown or empty message');
  const message: InboundMessage = {
    version: 1,
    platform: 'wecom',
    tenant: options.tenant,
    app: options.app,
    messageId: envelope.msgid,
    saidAtMs: options.sentAtMs,
    chat,
    sender,
    ...content,
    laterReplyHandle: options.laterReplyHandle(envelope, chat),
  };
  return { kind: 'message', message, answer: answers.firstAnswer };
}
