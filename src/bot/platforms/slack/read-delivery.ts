import { textOfUtf8 } from '../../../shared/text/utf8.ts';
import type { Delivery } from '../platform.ts';
import type { InboundMessage, MessagePart } from '../../domain/message.ts';
import { readOwnCommand, readSlashCommand, type BareEnglish, type SlashCommand } from '../../domain/slash-words.ts';
import { isSubscribedTo } from './app-rights.ts';
import { MAX_QUERY_TEXT_CHARS, partsOf, quoteOf, saidText, unnamedOf, wordlessParts } from './message-parts.ts';
import { originOf, type Origin } from './own-app.ts';
import { chatOf, EMPTY_ANSWER, ignored, messageIdOf, orderOf, createMessage, stopIn, type Place } from './place.ts';
import { readPress } from './read-press.ts';
import { formatHandle, formatTarget } from './reply-target.ts';
import { mentionOf, hasMention, plainText, unnamedIn } from './plain-text.ts';
import {
  readChangeFields,
  readEnvelopeFields,
  readMessageFields,
  readOpeningFields,
  readStopFields,
  isRemovalEvent,
  wireCommand,
  type WireChange,
  type WireCommand,
  type WireEnvelope,
  type WireMessage,
  type WireOpening,
  type WireStop,
} from './wire-event.ts';
import { parseJson } from '../../../shared/parse-json.ts';

export interface ReadOptions extends Place {
  /** Whether an answer in a private chat opens a thread, which native streams need (PLATFORM_FACTS.md slack-streams). */
  answersInThreads: boolean;
  /** Whether replies in a thread with an answer need no mention of the bot (SECURITY.md unaddressed-talk). */
  followsThreads: boolean;
  /** How command words without a slash are read; Slack reserves messages that begin with one. */
  bare: BareEnglish;
  /** Whether an address belongs to Slack, so that an answer may be posted to it. */
  isOwnAddress(address: string): boolean;
  /** Whether a file is stored at Slack, so that it may be downloaded with the bot's token. */
  isFileAddress(address: string): boolean;
  /** Whether an origin belongs to another workspace or app; its deliveries are ignored. */
  isForeignOrigin(origin: Origin): boolean;
  /** Called when Slack reports that the app was removed from the workspace. */
  onLeft?(): void;
}

/** Selects how deliveries of a workspace are read. */
export type Reading = (origin: Origin) => ReadOptions;

/** Subtypes of `message` events that people write; all others are system notes of a channel. */
const SPOKEN_SUBTYPES = new Set(['file_share', 'thread_broadcast', 'me_message']);
/** Slack's own accounts, whose messages are not questions. */
const SYSTEM_USERS = new Set(['USLACK', 'USLACKBOT']);
/** Maximum images of one message that are stored. */
const MAX_IMAGES_KEPT = 20;
const STRANGER = 'of another workspace or app';

/**
 * Reads a verified body. Unreadable or unwanted content is always ignored with the same empty 200
 * (SECURITY.md quiet-ignorance).
 */
export function readDelivery(body: Buffer, isForm: boolean, reading: Reading): Delivery {
  const text = textOfUtf8(body);
  if (text === undefined) return ignored('not UTF-8');
  return isForm ? readForm(new URLSearchParams(text), reading) : readEnvelope(parseJson(text), reading);
}

/** Reads a delivery from the socket: the same payload, already parsed, with its type. */
export function readEnvelopeOf(type: string, payload: unknown, reading: Reading): Delivery {
  if (type === 'events_api') return readEnvelope(payload, reading);
  if (type === 'interactive') return readInteraction(payload, reading);
  return type === 'slash_commands' ? readCommandFields(payload, reading) : ignored('unwanted envelope');
}

function readEnvelope(parsed: unknown, reading: Reading): Delivery {
  const envelope = readEnvelopeFields(parsed);
  if (!envelope) return ignored('unreadable event');
  const { type, challenge, event } = envelope;
  if (type === 'url_verification' && challenge !== undefined)
    return { kind: 'handshake', answer: { status: 200, contentType: 'text/plain', body: challenge } };
  if (type !== 'event_callback') return ignored('unwanted event');
  const origin = originOf(parsed);
  const options = reading(origin);
  if (options.isForeignOrigin(origin)) return ignored(STRANGER);
  if (!isSubscribedTo(event)) return ignored('unwanted event');
  if (isRemovalEvent(event)) options.onLeft?.();
  const change = readChangeFields(event);
  if (change) return readChange(change, envelope, options);
  const message = readMessageFields(event);
  if (message) return readMessage(message, envelope, options);
  const stopped = readStopFields(event);
  if (stopped) return readButton(stopped, options);
  const opening = readOpeningFields(event);
  return opening ? readOpening(opening, envelope, options) : ignored('unwanted event');
}

function readOpening(
  { channel, user, thread_ts: threadTs }: WireOpening,
  { team_id: teamId = '' }: WireEnvelope,
  { tenant }: ReadOptions,
): Delivery {
  const target = formatTarget({ channel, threadTs, userId: user, teamId, isPrivate: true });
  return { kind: 'opened-chat', tenant, sender: { userId: user }, target, answer: EMPTY_ANSWER };
}

/** A press of Slack's own stop button. */
function readButton(
  { channel, user, thread_ts: threadTs, streaming_message_ts: streaming, event_ts: ts }: WireStop,
  { tenant }: ReadOptions,
) {
  const shownAt = streaming.map((one) => formatHandle({ channel, ts: one }));
  const place = { tenant, channel, user, threadTs, isPrivate: channel.startsWith('D') };
  return stopIn(place, { stopId: `stop:${ts}`, chatOrder: orderOf(ts).chatOrder, shownAt });
}

function readMessage(event: WireMessage, envelope: WireEnvelope, options: ReadOptions): Delivery {
  const stranger = strangerIn(event, envelope);
  if (stranger !== undefined) return ignored(stranger);
  const { isPrivate, isForUs, text } = addressOf(event, envelope);
  if (!isForUs && isBareStop(event, options)) return readBareStop(event, options);
  if (!isForUs && !mayFollow(event, options)) return ignored('a message without a mention');
  const parts = partsOf(text, event, options);
  const isBareMention = isForUs && !isPrivate && parts.length === 0;
  // A forwarded message without further text is also a question.
  if (parts.length === 0 && (quoteOf(event, options) !== undefined || isBareMention))
    parts.push({ type: 'text', text: '' });
  if (parts.length === 0 && isForUs) parts.push(...wordlessParts(event));
  if (parts.length === 0) return ignored('an empty message');
  const message = saidBy(event, envelope, options, { parts, isPrivate });
  const delivery = { kind: 'message', message, answer: () => EMPTY_ANSWER } as const;
  return isForUs ? delivery : { ...delivery, isUnaddressed: true };
}

/** A deleted or edited message. Whether it was meant for the bot is not decided here: an unknown message has no effect. */
function readChange({ before, after, editedAt }: WireChange, envelope: WireEnvelope, options: ReadOptions): Delivery {
  const stands = after ?? before;
  const stranger = stands && strangerIn(stands, envelope);
  if (!stands || stranger !== undefined) return ignored(stranger ?? 'an unreadable change');
  const isSame = before?.text === after?.text && before?.files.length === after?.files.length;
  if (before && after && isSame) return ignored('a change of nothing that was said');
  // Once a thread has answers, its first message names its own thread; when it was sent, there was none.
  const { thread_ts: threadTs, ts } = stands;
  const event = { ...stands, thread_ts: threadTs === ts ? undefined : threadTs };
  const { isPrivate, isForUs, text } = addressOf(event, envelope);
  const wasForUs = before !== undefined && addressOf(before, envelope).isForUs;
  const parts = after ? partsOf(text, after, options) : [];
  if (after && parts.length === 0) return ignored('an empty message');
  const haveFilesChanged = before?.files.length !== after?.files.length;
  return {
    kind: 'amendment',
    amendment: {
      kind: after ? 'edited' : 'deleted',
      message: saidBy(event, envelope, options, { parts, isPrivate }),
      editedAt,
      mayArriveLater: isForUs || wasForUs || (!after && mayFollow(event, options)),
      imagesBefore: haveFilesChanged ? Math.min(before?.files.length ?? 0, MAX_IMAGES_KEPT) : 0,
    },
    answer: EMPTY_ANSWER,
  };
}

/** Why a message is ignored; undefined for a message that a person wrote. */
function strangerIn({ user, bot_id: botId, subtype }: WireMessage, { ownIds }: WireEnvelope): string | undefined {
  if (user === undefined || botId !== undefined) return 'not from a person';
  if (SYSTEM_USERS.has(user)) return 'said by the platform';
  if (subtype !== undefined && !SPOKEN_SUBTYPES.has(subtype)) return 'said by the platform';
  return ownIds.includes(user) ? 'said by ourselves' : undefined;
}

/** Whether a message is meant for the bot, and its text without the bot's mention. */
function addressOf(message: WireMessage, { ownIds }: WireEnvelope) {
  const { type, channel } = message;
  const text = saidText(message);
  // An app's own chat has the channel type `app_home` in older apps. The ids of direct messages begin with D.
  const { channel_type: channelType = 'app_home' } = message;
  const isPrivate =
    type === 'message' && (channelType === 'im' || (channelType === 'app_home' && channel.startsWith('D')));
  const mention = mentionOf(text, ownIds);
  // In a channel only messages that mention the bot are meant for it. Its `message` and `app_mention` events are one message
  // with one ts.
  const isForUs = isPrivate || type === 'app_mention' || (ownIds.length > 0 && mention.isMentioned);
  return { isPrivate, isForUs, text: isPrivate ? text : mention.text };
}

function saidBy(
  event: WireMessage,
  envelope: WireEnvelope,
  options: ReadOptions,
  { parts, isPrivate }: { parts: MessagePart[]; isPrivate: boolean },
): InboundMessage {
  const { channel, ts, user = '', thread_ts: threadTs } = event;
  const opensThread = threadTs === undefined && (!isPrivate || options.answersInThreads);
  const target = formatTarget({
    channel,
    ts,
    threadTs: threadTs ?? (opensThread ? ts : undefined),
    userId: user,
    teamId: event.user_team ?? envelope.team_id ?? '',
    isPrivate,
  });
  const quote = parts.length === 0 ? undefined : quoteOf(event, options);
  // A bare mention asks about the thread that it was written in; elsewhere it is answered with the help text.
  const isInThread = threadTs !== undefined && threadTs !== ts;
  const isBare = !isPrivate && !isInThread && quote === undefined && isBlank(parts);
  const slash: SlashCommand | undefined = isBare ? { word: 'help', argument: '' } : slashOf(parts, options.bare);
  return createMessage(options, slash, {
    messageId: messageIdOf(channel, ts),
    ...orderOf(ts),
    chat: chatOf({ isPrivate, channel, user }, threadTs),
    sender: { userId: user },
    parts,
    quote,
    unnamed: unnamedOf(event),
    replyTarget: target,
    opensThread: opensThread ? ts : undefined,
    threadBegunBy: threadTs === undefined ? undefined : messageIdOf(channel, threadTs),
  });
}

/**
 * Whether a message may continue a conversation in a thread with an answer: a reply by a person that mentions no one. A
 * reply that is also sent to the channel does not count.
 */
function mayFollow({ type, subtype, text = '', ts, thread_ts: threadTs }: WireMessage, options: ReadOptions): boolean {
  const isReply = type === 'message' && threadTs !== undefined && threadTs !== ts;
  return options.followsThreads && isReply && (subtype === undefined || subtype === 'file_share') && !hasMention(text);
}

/**
 * Whether a message in a thread of a channel is only the stop word. It ends the sender's own answer there, if there is one,
 * and gets no reply.
 */
function isBareStop({ thread_ts: threadTs, text = '', files }: WireMessage, { bare }: ReadOptions): boolean {
  return threadTs !== undefined && files.length === 0 && readSlashCommand(plainText(text), bare)?.word === 'stop';
}

function readBareStop({ channel, thread_ts: threadTs, ts, user = '' }: WireMessage, { tenant }: ReadOptions): Delivery {
  const { chatOrder } = orderOf(ts);
  return stopIn({ tenant, channel, user, threadTs, isPrivate: false }, { stopId: `stop:${ts}`, chatOrder });
}

function slashOf(parts: MessagePart[], bare: BareEnglish): SlashCommand | undefined {
  const only = parts.length === 1 && parts[0]?.type === 'text' ? parts[0].text : undefined;
  return only === undefined ? undefined : readSlashCommand(only, bare);
}

function isBlank(parts: readonly MessagePart[]): boolean {
  return parts.length === 1 && parts[0]?.type === 'text' && parts[0].text === '';
}

/** Reads form bodies: clicks (`payload`) and the app's slash command (`/parley help`). */
function readForm(form: URLSearchParams, reading: Reading): Delivery {
  const payload = form.get('payload');
  if (payload !== null) return readInteraction(parseJson(payload), reading);
  return readCommandFields(Object.fromEntries(form), reading);
}

function readCommandFields(fields: unknown, reading: Reading): Delivery {
  const origin = originOf(fields);
  const options = reading(origin);
  if (options.isForeignOrigin(origin)) return ignored(STRANGER);
  const command = wireCommand.safeParse(fields);
  if (!command.success) return ignored('unwanted form');
  return readCommand(command.data, options);
}

/** Reads a slash command: a command word or a question. An empty one requests the help text. */
function readCommand(
  {
    text,
    team_id: teamId,
    channel_id: channel,
    user_id: userId,
    trigger_id: triggerId,
    response_url: url,
  }: WireCommand,
  options: ReadOptions,
): Delivery {
  const isPrivate = channel.startsWith('D');
  const said = plainText(text.slice(0, MAX_QUERY_TEXT_CHARS)).trim();
  const slash: SlashCommand | undefined =
    said === '' ? { word: 'help', argument: '' } : readOwnCommand(said, options.bare);
  const responseUrl = url !== undefined && options.isOwnAddress(url) ? url : undefined;
  const message = createMessage(options, slash, {
    messageId: `command:${triggerId}`,
    chat: chatOf({ isPrivate, channel, user: userId }),
    sender: { userId },
    parts: [{ type: 'text', text: said }],
    unnamed: unnamedIn(text.slice(0, MAX_QUERY_TEXT_CHARS)),
    replyTarget: formatTarget({
      channel,
      userId,
      teamId,
      isPrivate,
      response:
        responseUrl === undefined ? undefined : { url: responseUrl, isFirst: slash !== undefined && !isPrivate },
    }),
  });
  return { kind: 'message', message, answer: () => EMPTY_ANSWER };
}

function readInteraction(parsed: unknown, reading: Reading): Delivery {
  const origin = originOf(parsed);
  const options = reading(origin);
  return options.isForeignOrigin(origin) ? ignored(STRANGER) : readPress(parsed, options);
}
