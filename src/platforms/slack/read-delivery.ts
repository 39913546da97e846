import { SECOND_MS } from '../../base/clock.ts';
import { textOfUtf8 } from '../../base/utf8.ts';
import type { Delivery, HttpAnswer } from '../platform.ts';
import type { InboundStop, InboundMessage, MessagePart, Chat } from '../../domain/message.ts';
import { readOwnCommand, readSlashCommand, type BareEnglish, type SlashCommand } from '../../domain/slash-words.ts';
import { originOf, type Origin } from './own-app.ts';
import { formatHandle, formatTarget } from './reply-target.ts';
import { mentionOf, plainText } from './plain-text.ts';
import {
  readEnvelopeFields,
  readMessageFields,
  readStopFields,
  wireCommand,
  wireInteraction,
  type WireCommand,
  type WireEnvelope,
  type WireFile,
  type WireMessage,
  type WireStop,
} from './wire-event.ts';

export interface ReadOptions {
  tenant: string;
  app: string;
  /** Whether an answer in a private chat opens a thread: native streams need one (PLATFORM_FACTS.md slack-web-api). */
  answersInThreads: boolean;
  /** How words are read that people type without a slash: Slack keeps what begins with one for itself. */
  bare: BareEnglish;
  /** Whether an address is Slack's own, so that an answer may be posted to it. */
  isOwnAddress(address: string): boolean;
  /** Whether what comes from there is another workspace's or app's, and none of our business. */
  isStranger(origin: Origin): boolean;
}

/** "Taken": Slack shows nothing of it to anybody. */
export const EMPTY_ANSWER: HttpAnswer = { status: 200, body: '' };

/** System notes of a channel are `message` events too; these are the subtypes that a person writes. */
const SPOKEN_SUBTYPES = new Set(['file_share', 'thread_broadcast', 'me_message']);
const MAX_QUERY_TEXT_CHARS = 100_000;
const STRANGER = 'of another workspace or app';

/** Reads a verified body. Whatever makes no sense is ignored with an empty 200, always the same (SECURITY.md quiet-ignorance). */
export function readDelivery(body: Buffer, isForm: boolean, options: ReadOptions): Delivery {
  const text = textOfUtf8(body);
  if (text === undefined) return ignored('not UTF-8');
  return isForm ? readForm(new URLSearchParams(text), options) : readEnvelope(parseJson(text), options);
}

/** Reads what came over the socket: the same payloads, already parsed, under a word that says which. */
export function readEnvelopeOf(type: string, payload: unknown, options: ReadOptions): Delivery {
  if (type === 'events_api') return readEnvelope(payload, options);
  if (type === 'interactive') return readInteraction(payload, options);
  return type === 'slash_commands' ? readCommandFields(payload, options) : ignored('unwanted envelope');
}

export function ignored(reason: string): Delivery {
  return { kind: 'ignored', reason, answer: EMPTY_ANSWER };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readEnvelope(parsed: unknown, options: ReadOptions): Delivery {
  const envelope = readEnvelopeFields(parsed);
  if (!envelope) return ignored('unreadable event');
  const { type, challenge, event } = envelope;
  if (type === 'url_verification' && challenge !== undefined)
    return { kind: 'handshake', answer: { status: 200, contentType: 'text/plain', body: challenge } };
  if (type !== 'event_callback') return ignored('unwanted event');
  if (options.isStranger(originOf(parsed))) return ignored(STRANGER);
  const message = readMessageFields(event);
  if (message) return readMessage(message, envelope, options);
  const stopped = readStopFields(event);
  return stopped ? readButton(stopped) : ignored('unwanted event');
}

/** The person pressed Slack's own stop button. */
function readButton({ channel, user, thread_ts: threadTs, streaming_message_ts: streaming, event_ts: ts }: WireStop) {
  const shownAt = streaming.map((one) => formatHandle({ channel, ts: one }));
  return stopIn({ channel, user, threadTs, isPrivate: channel.startsWith('D') }, { stopId: `stop:${ts}`, shownAt });
}

/** Where a stop was meant. */
interface StopPlace {
  channel: string;
  user: string;
  threadTs: string | undefined;
  isPrivate: boolean;
}

function stopIn(
  { channel, user, threadTs, isPrivate }: StopPlace,
  { stopId, ...which }: Pick<InboundStop, 'stopId' | 'shownAt'>,
): Delivery {
  const stop: InboundStop = {
    stopId: messageIdOf(channel, stopId),
    chat: chatOf({ isPrivate, channel, user }, threadTs),
    sender: { userId: user },
    threadBegunBy: threadTs === undefined ? undefined : messageIdOf(channel, threadTs),
    ...which,
  };
  return { kind: 'stop', stop, answer: EMPTY_ANSWER };
}

function readMessage(event: WireMessage, envelope: WireEnvelope, options: ReadOptions): Delivery {
  const { user, bot_id: botId, subtype } = event;
  if (user === undefined || botId !== undefined) return ignored('not from a person');
  if (subtype !== undefined && !SPOKEN_SUBTYPES.has(subtype)) return ignored('said by the platform');
  const { ownIds } = envelope;
  if (ownIds.includes(user)) return ignored('said by ourselves');

  const isPrivate = event.type === 'message' && event.channel_type === 'im';
  const mention = mentionOf(event.text ?? '', ownIds);
  // In a channel only what names the bot is for it; its `message` and its `app_mention` are one message with one ts.
  const isForUs = isPrivate || event.type === 'app_mention' || (ownIds.length > 0 && mention.isMentioned);
  if (!isForUs) return isBareStop(event, options) ? readBareStop(event, user) : ignored('a message without a mention');
  const parts = partsOf(isPrivate ? (event.text ?? '') : mention.text, event);
  if (parts.length === 0) return ignored('an empty message');

  const opensThread = event.thread_ts === undefined && (!isPrivate || options.answersInThreads);
  const threadTs = event.thread_ts ?? (opensThread ? event.ts : undefined);
  const target = formatTarget({
    channel: event.channel,
    ts: event.ts,
    threadTs,
    userId: user,
    teamId: event.user_team ?? envelope.team_id ?? '',
    isPrivate,
  });
  return spoken(options, slashOf(parts, options.bare), {
    messageId: messageIdOf(event.channel, event.ts),
    saidAtMs: Math.floor(Number(event.ts) * SECOND_MS),
    chat: chatOf({ isPrivate, channel: event.channel, user }, event.thread_ts),
    sender: { userId: user },
    parts,
    replyTarget: target,
    opensThread: opensThread ? event.ts : undefined,
    threadBegunBy: event.thread_ts === undefined ? undefined : messageIdOf(event.channel, event.thread_ts),
  });
}

/** The stop word alone in a thread of a channel. It ends the sender's own answer there, if there is one, and says nothing. */
function isBareStop({ thread_ts: threadTs, text = '', files }: WireMessage, { bare }: ReadOptions): boolean {
  return threadTs !== undefined && files.length === 0 && readSlashCommand(plainText(text), bare)?.word === 'stop';
}

function readBareStop({ channel, thread_ts: threadTs, ts }: WireMessage, user: string): Delivery {
  return stopIn({ channel, user, threadTs, isPrivate: false }, { stopId: `stop:${ts}` });
}

function chatOf(
  { isPrivate, channel, user }: { isPrivate: boolean; channel: string; user: string },
  threadId?: string,
) {
  const chat: Chat = isPrivate ? { kind: 'private', id: user } : { kind: 'group', id: channel };
  return threadId === undefined ? chat : { ...chat, threadId };
}

/** A message's `ts` is its id within its channel only. The same for every delivery of it: so is a retry of Slack's known (queue/accept.ts). */
function messageIdOf(channel: string, ts: string): string {
  return `${channel}:${ts}`;
}

type Spoken = Pick<
  InboundMessage,
  'messageId' | 'saidAtMs' | 'chat' | 'sender' | 'parts' | 'replyTarget' | 'opensThread' | 'threadBegunBy'
>;

function slashOf(parts: MessagePart[], bare: BareEnglish): SlashCommand | undefined {
  const only = parts.length === 1 && parts[0]?.type === 'text' ? parts[0].text : undefined;
  return only === undefined ? undefined : readSlashCommand(only, bare);
}

function spoken({ tenant, app }: ReadOptions, slash: SlashCommand | undefined, said: Spoken): Delivery {
  const message: InboundMessage = { version: 1, platform: 'slack', tenant, app, ...said, slash };
  return { kind: 'message', message, answer: () => EMPTY_ANSWER };
}

function partsOf(text: string, { files }: WireMessage): MessagePart[] {
  const plain = plainText(text.slice(0, MAX_QUERY_TEXT_CHARS)).trim();
  return [...(plain === '' ? [] : [{ type: 'text' as const, text: plain }]), ...files.map(filePart)];
}

/** A file that Slack does not hand out (over the plan's limit, deleted) has no address; its sender still gets an answer. */
function filePart(file: WireFile): MessagePart {
  const address = file.url_private_download ?? file.url_private;
  if (address === undefined) return { type: 'unsupported', what: 'file' };
  if (file.mimetype?.startsWith('image/')) return { type: 'image', mediaRef: address };
  return { type: 'file', mediaRef: address, name: file.name };
}

/** Form bodies: clicks (`payload`) and the app's slash command (`/parley help`). */
function readForm(form: URLSearchParams, options: ReadOptions): Delivery {
  const payload = form.get('payload');
  if (payload !== null) return readInteraction(parseJson(payload), options);
  return readCommandFields(Object.fromEntries(form), options);
}

function readCommandFields(fields: unknown, options: ReadOptions): Delivery {
  if (options.isStranger(originOf(fields))) return ignored(STRANGER);
  const command = wireCommand.safeParse(fields);
  if (!command.success) return ignored('unwanted form');
  return readCommand(command.data, options);
}

/** A word behind the app's command, or a question. With nothing behind it somebody looks for help. */
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
  return spoken(options, slash, {
    messageId: `command:${triggerId}`,
    chat: chatOf({ isPrivate, channel, user: userId }),
    sender: { userId },
    parts: [{ type: 'text', text: said }],
    replyTarget: formatTarget({
      channel,
      userId,
      teamId,
      isPrivate,
      response:
        responseUrl === undefined ? undefined : { url: responseUrl, isFirst: slash !== undefined && !isPrivate },
    }),
  });
}

function readInteraction(parsed: unknown, options: ReadOptions): Delivery {
  if (options.isStranger(originOf(parsed))) return ignored(STRANGER);
  const read = wireInteraction.safeParse(parsed);
  const action = read.success ? read.data.actions?.[0] : undefined;
  if (action?.action_id !== 'parley_feedback') return ignored('unwanted interaction');
  const verdict = action.value === 'good' ? 'good' : action.value === 'bad' ? 'bad' : undefined;
  return verdict ? { kind: 'feedback', verdict, answer: EMPTY_ANSWER } : ignored('unknown feedback');
}
