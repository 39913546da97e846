import { fieldsOf } from '../../../shared/parse-json.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import type { MessagePart } from '../../domain/message.ts';
import type { ThreadGap, ThreadMessage, ThreadReading, ThreadWriter } from '../platform.ts';
import type { NameFinder } from './find-names.ts';
import { partsOf, quoteOf, saidText, unnamedOf } from './message-parts.ts';
import { messageIdOf, orderOf } from './place.ts';
import type { SlackApi } from './platform-api.ts';
import { ANSWER_EVENT, textOf } from './post-answer.ts';
import type { ReplyTarget } from './reply-target.ts';
import { readMessageFields, type WireMessage } from './wire-event.ts';

/** The largest page that Slack returns: most threads need one call (PLATFORM_FACTS.md slack-web-api). */
const MAX_PAGE = 999;
const CALL_TIMEOUT_MS = 3 * SECOND_MS;
/** A second page that is chosen by time may contain more messages than estimated. */
const PAGE_SHARE = 0.7;
const MAX_PEOPLE = 100;
const MAX_REFERENCES = 60;
const MICROSECONDS = 1_000_000;
/** Subtypes of messages that people or apps write. All others are notes by Slack; the first message is always kept. */
const SPOKEN_SUBTYPES = new Set(['bot_message', 'file_share', 'me_message', 'thread_broadcast']);

export interface ThreadReader {
  api: SlackApi;
  names: NameFinder;
  isFileAddress(address: string): boolean;
}

/** A message as Slack returns it, with what an event of it does not have. */
interface Found {
  wire: WireMessage;
  /** Name of the app that wrote it. */
  app: string | undefined;
  /** Post key, if it is an answer of ours. */
  postKey: string | undefined;
}

interface Page {
  messages: readonly Found[];
  /** Replies of the whole thread, from its first message, if Slack names them. */
  replyCount: number | undefined;
  cursor: string;
  hasMore: boolean;
}

/**
 * Reads a thread up to the question, in at most two calls. Slack returns the oldest messages first; if one page does not
 * contain the thread, the second one is chosen so that it has the newest messages. Never rejects.
 */
export async function readThread(reader: ThreadReader, target: ReplyTarget): Promise<ThreadReading> {
  const { channel, threadTs, ts: questionTs } = target;
  if (threadTs === undefined || questionTs === undefined) return { kind: 'unread' };
  const read = async (place: object) => {
    const args = { channel, ts: threadTs, latest: questionTs, limit: MAX_PAGE, include_all_metadata: true, ...place };
    const answer = await reader.api.call('conversations.replies', args, CALL_TIMEOUT_MS);
    return answer.kind === 'ok' ? pageOf(channel, answer.body) : undefined;
  };
  const first = await read({});
  if (!first) return { kind: 'unread' };
  const rest = first.hasMore ? await readNewest(read, first, questionTs) : [];
  const found = [...first.messages, ...rest];
  const entries = found.flatMap((one): (ThreadMessage | ThreadGap)[] =>
    'kind' in one ? [one] : messageOf(reader, one, threadTs),
  );
  return { kind: 'read', entries, names: await namesIn(reader, entries, found) };
}

/** The part of a long thread after its first page: what was left out, and the newest messages. */
async function readNewest(
  read: (place: object) => Promise<Page | undefined>,
  first: Page,
  questionTs: string,
): Promise<(Found | ThreadGap)[]> {
  const { cursor, replyCount } = first;
  const last = first.messages.at(-1)?.wire.ts ?? questionTs;
  // Without the first message and the question.
  const left = replyCount === undefined ? undefined : Math.max(1, replyCount - first.messages.length);
  const isNext = left === undefined || left <= first.messages.length;
  const begin = isNext ? last : timeOfNewest(first.messages, left);
  const second = await read(isNext && cursor !== '' ? { cursor } : { oldest: begin });
  const { chatOrder: lastOrder } = orderOf(last);
  const found = second?.messages.filter(({ wire }) => orderOf(wire.ts).chatOrder > lastOrder) ?? [];
  const missing = left === undefined ? undefined : Math.max(0, left - found.length);
  const gap: ThreadGap = { kind: 'gap', about: missing === 0 ? undefined : missing };
  if (!second || second.hasMore) return [...found, gap];
  return isNext ? found : [gap, ...found];
}

function pageOf(channel: string, body: Record<string, unknown>): Page | undefined {
  const { messages, has_more: hasMore, response_metadata: metadata } = body;
  if (!Array.isArray(messages)) return undefined;
  const cursor = textOf(fieldsOf(metadata)['next_cursor']) ?? '';
  const replyCount = fieldsOf(messages[0])['reply_count'];
  return {
    messages: (messages as unknown[]).flatMap((one) => foundMessage(channel, one) ?? []),
    replyCount: typeof replyCount === 'number' && replyCount >= 0 ? replyCount : undefined,
    cursor,
    hasMore: hasMore === true || cursor !== '',
  };
}

function foundMessage(channel: string, raw: unknown): Found | undefined {
  const fields = fieldsOf(raw);
  const wire = readMessageFields({ ...fields, type: 'message', channel });
  if (!wire) return undefined;
  const metadata = fieldsOf(fields['metadata']);
  return {
    wire,
    app: textOf(fields['username']) ?? textOf(fieldsOf(fields['bot_profile'])['name']),
    postKey: metadata['event_type'] === ANSWER_EVENT ? textOf(fieldsOf(metadata['event_payload'])['key']) : undefined,
  };
}

function messageOf(reader: ThreadReader, found: Found, threadTs: string): ThreadMessage[] {
  const { channel, ts, subtype } = found.wire;
  if (subtype !== undefined && !SPOKEN_SUBTYPES.has(subtype) && ts !== threadTs) return [];
  if (subtype === 'tombstone') return [];
  const said = [...partsOf(saidText(found.wire), found.wire, reader), ...(quoteOf(found.wire, reader) ?? [])];
  const parts = said.length > 0 ? said : attachedParts(found.wire);
  if (parts.length === 0) return [];
  const { saidAtMs } = orderOf(ts);
  return [{ kind: 'message', messageId: messageIdOf(channel, ts), saidAtMs, writer: writerOf(found), parts }];
}

function writerOf({ wire: { user, bot_id: botId }, app, postKey }: Found): ThreadWriter {
  if (postKey !== undefined && botId !== undefined) return { kind: 'own', postKey };
  return user === undefined || botId !== undefined ? { kind: 'app', name: app } : { kind: 'person', userId: user };
}

/** Apps often write only into the fields of an attachment. */
function attachedParts({ attachments }: WireMessage): MessagePart[] {
  const lines = (Array.isArray(attachments) ? (attachments as unknown[]) : []).slice(0, 5).map((one) => {
    const { pretext, title, text, fallback } = fieldsOf(one);
    const shown = [pretext, title, text].map(textOf).filter((line) => line !== undefined);
    return shown.length > 0 ? shown.join('\n') : (textOf(fallback) ?? '');
  });
  const text = lines.join('\n').trim();
  return text === '' ? [] : [{ type: 'text', text: Buffer.from(text.slice(0, 20_000)).toString() }];
}

async function namesIn(
  { names }: ThreadReader,
  entries: readonly (ThreadMessage | ThreadGap)[],
  found: readonly (Found | ThreadGap)[],
): Promise<ReadonlyMap<string, string | undefined>> {
  const people = entries.flatMap((one) =>
    one.kind === 'message' && one.writer.kind === 'person' ? [`@${one.writer.userId}`] : [],
  );
  const mentioned = found.flatMap((one) => ('kind' in one ? [] : (unnamedOf(one.wire) ?? [])));
  const wanted = new Set([
    ...[...new Set(people)].slice(0, MAX_PEOPLE),
    ...[...new Set(mentioned)].slice(0, MAX_REFERENCES),
  ]);
  const known = await names.findAll([...wanted]);
  return new Map([...wanted].map((reference) => [reference, known.get(reference)]));
}

/** Time from which on about a page of messages is left, if they come as fast as those of the first page. */
function timeOfNewest(messages: readonly Found[], left: number): string {
  // The first message may be much older than its replies.
  const [begin = 0, end = 0] = [messages[1], messages.at(-1)].map((one) => (one ? orderOf(one.wire.ts).chatOrder : 0));
  const skipped = left - PAGE_SHARE * messages.length;
  const at = Math.round(end + ((end - begin) / Math.max(1, messages.length - 2)) * skipped);
  return `${Math.floor(at / MICROSECONDS)}.${String(at % MICROSECONDS).padStart(6, '0')}`;
}
