import { z } from 'zod';
import { isObject } from '../../../shared/parse-json.ts';

/*
 * Slack's payloads, read up to the first fault. Events are read without a schema, because each one passes here and a schema
 * took a tenth of the total time per event. Tests compare these readers with schemas.
 */

/** A file of a message; a file that the app cannot access has no address. */
export interface WireFile {
  id: string | undefined;
  /** `check_file_info`: the event contains no other data of the file (PLATFORM_FACTS.md slack-messages). */
  file_access: string | undefined;
  /** How Slack stores the file: `hosted`, or for example `external`, `tombstone`, `canvas`. */
  mode: string | undefined;
  is_external: boolean;
  /** Text of an e-mail forwarded to Slack. */
  plain_text: string | undefined;
  name: string | undefined;
  mimetype: string | undefined;
  url_private_download: string | undefined;
  url_private: string | undefined;
}

/** Events with a person's message. Slack sends null for a missing field, or omits it. */
export interface WireMessage {
  type: 'message' | 'app_mention';
  subtype: string | undefined;
  channel_type: string | undefined;
  channel: string;
  user: string | undefined;
  bot_id: string | undefined;
  user_team: string | undefined;
  text: string | undefined;
  ts: string;
  thread_ts: string | undefined;
  files: WireFile[];
  /** Unparsed; read by `shared-messages.ts` and `read-blocks.ts`. */
  attachments: unknown;
  blocks: unknown;
}

export interface WireEnvelope {
  type: string;
  challenge: string | undefined;
  team_id: string | undefined;
  /** This app's user ids, as the event names them. */
  ownIds: string[];
  event: unknown;
}

type Absent = null | undefined;

/**
 * A message's `ts` identifies it within its channel: digits with six decimals, never a number
 * (PLATFORM_FACTS.md slack-messages).
 */
const TS = /^\d{1,16}\.\d{1,9}$/;

/** Maximum characters of a forwarded e-mail that are read. */
const MAX_MAIL_CHARS = 20_000;

/** Maximum streams of one session; usually there is one. */
const MAX_STREAMS = 20;

const isAbsent = (value: unknown): value is Absent => value === undefined || value === null;
const isText = (value: unknown, maxChars = Number.POSITIVE_INFINITY): value is string =>
  typeof value === 'string' && value.length <= maxChars;
const isId = (value: unknown): value is string => isText(value, 64) && value !== '';
const isTs = (value: unknown): value is string => typeof value === 'string' && TS.test(value);
const isMaybeText = (value: unknown, maxChars?: number): value is string | Absent =>
  isAbsent(value) || isText(value, maxChars);
const isMaybeId = (value: unknown): value is string | Absent => isAbsent(value) || isId(value);

/** @returns undefined if this is not an event of the Events API */
export function readEnvelopeFields(parsed: unknown): WireEnvelope | undefined {
  if (!isObject(parsed)) return undefined;
  const { type, challenge, team_id: teamId, authorizations, event } = parsed;
  if (!isText(type)) return undefined;
  if (challenge !== undefined && !isText(challenge, 4_000)) return undefined;
  if (!isMaybeId(teamId)) return undefined;
  const ownIds = readOwnIds(authorizations);
  return ownIds && { type, challenge, team_id: teamId ?? undefined, ownIds, event };
}

function readOwnIds(authorizations: unknown): string[] | undefined {
  if (isAbsent(authorizations)) return [];
  if (!Array.isArray(authorizations)) return undefined;
  const ids: string[] = [];
  for (const authorization of authorizations as unknown[]) {
    if (!isObject(authorization)) return undefined;
    const { user_id: id } = authorization;
    if (!isMaybeId(id)) return undefined;
    if (!isAbsent(id)) ids.push(id);
  }
  return ids;
}

/** @returns undefined for any other event, and for malformed fields */
export function readMessageFields(event: unknown): WireMessage | undefined {
  if (!isObject(event)) return undefined;
  const { type, channel, ts, user, text, subtype, channel_type: channelType } = event;
  const threadTs = event['thread_ts'] === '' ? undefined : event['thread_ts'];
  const { bot_id: botId, user_team: userTeam } = event;
  if ((type !== 'message' && type !== 'app_mention') || !isId(channel) || !isTs(ts)) return undefined;
  if (!isMaybeText(text) || !isMaybeText(subtype) || !isMaybeText(channelType) || !isMaybeText(botId)) return undefined;
  if (!isMaybeId(user) || !isMaybeId(userTeam) || !(isAbsent(threadTs) || isTs(threadTs))) return undefined;
  return {
    type,
    channel,
    ts,
    files: readFiles(event['files']),
    attachments: event['attachments'] ?? undefined,
    blocks: event['blocks'] ?? undefined,
    user: user ?? undefined,
    text: text ?? undefined,
    subtype: subtype ?? undefined,
    thread_ts: threadTs ?? undefined,
    channel_type: channelType ?? undefined,
    bot_id: botId ?? undefined,
    user_team: userTeam ?? undefined,
  };
}

/** A deleted or edited message: its previous and its current version (PLATFORM_FACTS.md slack-messages). */
export interface WireChange {
  /** Absent if Slack does not send it. */
  before: WireMessage | undefined;
  /** Absent for a deleted message. */
  after: WireMessage | undefined;
  /** Time of the edit, for comparison. Microseconds. */
  editedAt: number;
}

/**
 * A deleted message with a thread becomes a tombstone; for its author it is deleted.
 * @returns undefined for any other event, for malformed fields, and for changes by Slack itself (previews)
 */
export function readChangeFields(event: unknown): WireChange | undefined {
  if (!isObject(event) || event['type'] !== 'message') return undefined;
  const {
    subtype,
    channel,
    channel_type: channelType,
    message,
    previous_message: previous,
    deleted_ts: deletedTs,
  } = event;
  const messageOf = (nested: unknown, ts?: unknown) =>
    isObject(nested)
      ? readMessageFields({ ...nested, type: 'message', channel, channel_type: channelType, ts: ts ?? nested['ts'] })
      : undefined;
  if (subtype === 'message_deleted') {
    const before = messageOf(previous, deletedTs);
    return before && { before, after: undefined, editedAt: 0 };
  }
  if (subtype !== 'message_changed' || !isObject(message)) return undefined;
  const before = messageOf(previous);
  if (message['subtype'] === 'tombstone') return before && { before, after: undefined, editedAt: 0 };
  const after = messageOf(message);
  const edited = isObject(message['edited']) ? message['edited']['ts'] : undefined;
  return after && isTs(edited) ? { before, after, editedAt: Math.round(Number(edited) * 1e6) } : undefined;
}

/** The files of a message. A malformed field counts as absent, so that the message is still answered. */
export function readFiles(files: unknown): WireFile[] {
  return Array.isArray(files) ? (files as unknown[]).map(readFile) : [];
}

function readFile(file: unknown): WireFile {
  const fields = isObject(file) ? file : {};
  const textOf = (name: string, maxChars?: number) => {
    const value = fields[name];
    return isText(value, maxChars) ? value : undefined;
  };
  return {
    mode: textOf('mode', 64),
    is_external: fields['is_external'] === true,
    plain_text: textOf('plain_text')?.slice(0, MAX_MAIL_CHARS),
    id: textOf('id', 64),
    file_access: textOf('file_access', 64),
    name: textOf('name', 1_000),
    mimetype: textOf('mimetype', 200),
    url_private_download: textOf('url_private_download', 4_000),
    url_private: textOf('url_private', 4_000),
  };
}

/** A press of Slack's own stop button (PLATFORM_FACTS.md slack-assistant). */
export interface WireStop {
  channel: string;
  user: string;
  thread_ts: string | undefined;
  /** The messages that were growing. */
  streaming_message_ts: string[];
  event_ts: string;
}

/** @returns undefined for any other event, and for malformed fields */
export function readStopFields(event: unknown): WireStop | undefined {
  if (!isObject(event) || event['type'] !== 'agent_session_stopped') return undefined;
  const { channel, user, thread_ts: threadTs, streaming_message_ts: streaming, event_ts: eventTs } = event;
  if (!isId(channel) || !isId(user) || !isTs(eventTs) || !(isAbsent(threadTs) || isTs(threadTs))) return undefined;
  if (!Array.isArray(streaming) || streaming.length > MAX_STREAMS || !streaming.every(isTs)) return undefined;
  return { channel, user, thread_ts: threadTs ?? undefined, streaming_message_ts: streaming, event_ts: eventTs };
}

/**
 * A person opened a new thread with the app, or the app's own chat, which then has no thread
 * (PLATFORM_FACTS.md slack-assistant).
 */
export interface WireOpening {
  channel: string;
  user: string;
  thread_ts: string | undefined;
}

/** @returns undefined for any other event, and for malformed fields */
export function readOpeningFields(event: unknown): WireOpening | undefined {
  if (!isObject(event)) return undefined;
  const { type, tab, user, channel, assistant_thread: thread } = event;
  if (type === 'app_home_opened')
    return tab === 'messages' && isId(user) && isId(channel) ? { channel, user, thread_ts: undefined } : undefined;
  if (type !== 'assistant_thread_started' || !isObject(thread)) return undefined;
  const { user_id: opener, channel_id: where, thread_ts: threadTs } = thread;
  if (!isId(opener) || !isId(where) || !(isAbsent(threadTs) || isTs(threadTs))) return undefined;
  return { channel: where, user: opener, thread_ts: threadTs ?? undefined };
}

/** Whether an event reports that the app was removed from the workspace, or its bot token revoked. */
export function isRemovalEvent(event: unknown): boolean {
  if (!isObject(event)) return false;
  const { type, tokens } = event;
  if (type === 'app_uninstalled') return true;
  return type === 'tokens_revoked' && isObject(tokens) && Array.isArray(tokens['bot']) && tokens['bot'].length > 0;
}

const id = z.string().min(1).max(64);

/** A slash command of the app (`/parley help`), as form fields. */
export const wireCommand = z.object({
  command: z.string().min(1).max(200),
  text: z.string().default(''),
  team_id: id,
  channel_id: id,
  user_id: id,
  trigger_id: z.string().min(1).max(200),
  response_url: z.string().max(2_000).optional(),
});

export type WireCommand = z.infer<typeof wireCommand>;

const ts = z.string().regex(TS);
/** A value that may be absent or null. */
const maybe = <Shape extends z.ZodType>(shape: Shape) => shape.nullish().transform((value) => value ?? undefined);

/** A press of a button (PLATFORM_FACTS.md slack-buttons). For an ephemeral message Slack sends no `message`. */
export const wirePress = z.object({
  type: z.literal('block_actions'),
  user: z.object({ id, team_id: maybe(id) }),
  team: maybe(z.object({ id })),
  channel: z.object({ id }),
  container: z.object({ message_ts: ts, thread_ts: maybe(ts) }),
  message: maybe(z.object({ thread_ts: maybe(ts) })),
  actions: z
    .array(z.object({ action_id: z.string().max(255), value: maybe(z.string().max(2_000)), action_ts: maybe(ts) }))
    .min(1),
  response_url: maybe(z.string().max(2_000)),
});

export type WirePress = z.infer<typeof wirePress>;
