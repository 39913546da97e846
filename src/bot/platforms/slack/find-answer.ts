import { z } from 'zod';
import { HOUR_MS, SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import type { PostLookupResult } from '../platform.ts';
import { isNotInChannel } from './answer-command.ts';
import type { BotMethod } from './app-rights.ts';
import type { SlackApi } from './platform-api.ts';
import { ANSWER_EVENT, REMOVED_EVENT } from './post-answer.ts';
import { formatHandle, type ReplyTarget } from './reply-target.ts';

const MESSAGES_A_PAGE = 200;
/** Maximum pages of one thread since one question; beyond that the result is `unknown`. */
const MAX_PAGES = 25;
/** A slash command is not a message, so the search starts at a time instead of at the question. */
const COMMAND_AGE_MS = 2 * HOUR_MS;

const messageShape = z.looseObject({
  ts: z.string(),
  user: z.string().optional(),
  bot_id: z.string().optional(),
  files: z.array(z.unknown()).optional(),
  metadata: z
    .looseObject({
      event_type: z.string(),
      event_payload: z.looseObject({ key: z.string(), last: z.string(), merged: z.string() }).partial().optional(),
    })
    .optional(),
});
const pageShape = z.looseObject({
  messages: z.array(messageShape),
  has_more: z.boolean().optional(),
  response_metadata: z.looseObject({ next_cursor: z.string().optional() }).optional(),
});
type FoundMessage = z.infer<typeof messageShape>;

/**
 * Searches the chat for a possibly posted answer, through all messages since the question
 * (SECURITY.md looked-up-not-repeated, "lookup"). An editable message carries its key as metadata, which Slack returns only
 * with `include_all_metadata`. A native stream has no metadata until it ends: a stream whose opener died cannot be told from
 * another turn's, so it is reported as a stray.
 */
export async function findAnswer(
  { api, nowMs }: { api: SlackApi; nowMs: NowMs },
  botUserId: string | undefined,
  target: ReplyTarget,
  postKey: string,
): Promise<PostLookupResult | 'unknown'> {
  const { channel, threadTs, ts } = target;
  const method = threadTs === undefined ? 'conversations.history' : 'conversations.replies';
  const args = {
    channel,
    ts: threadTs,
    oldest: ts ?? ((nowMs() - COMMAND_AGE_MS) / SECOND_MS).toFixed(6),
    inclusive: false,
    limit: MESSAGES_A_PAGE,
    include_all_metadata: true,
  };
  const said = await readToTheEnd(api, method, args);
  if (!said) return 'unknown';
  const own = said
    .filter((message) => isOwn(message, botUserId) && isAfter(message.ts, ts))
    .sort((one, other) => (isAfter(one.ts, other.ts) ? 1 : -1));
  const handles = (messages: FoundMessage[]) => messages.map((message) => formatHandle({ channel, ts: message.ts }));
  return {
    keyed: handles(own.filter((message) => keyOf(message) === postKey)),
    // Only a thread can contain a stream; other messages in a channel were posted on purpose.
    orphans: threadTs === undefined ? [] : handles(own.filter(isStray)),
    isComplete: isWhole(own, postKey),
    pendingDeletes: handles(own.filter(({ metadata }) => metadata?.event_type === REMOVED_EVENT)),
  };
}

/** @returns undefined if Slack does not return all messages now */
async function readToTheEnd(
  api: SlackApi,
  method: BotMethod,
  args: Record<string, unknown>,
): Promise<FoundMessage[] | undefined> {
  const messages: FoundMessage[] = [];
  let cursor = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await api.call(method, { ...args, cursor: cursor === '' ? undefined : cursor });
    // The app is not a member of the channel in which the command was typed, so none of its messages can be there.
    if (answer.kind === 'error' && isNotInChannel(answer.error) && page === 0) return [];
    const read = answer.kind === 'ok' ? pageShape.safeParse(answer.body) : undefined;
    if (read?.success !== true) return undefined;
    messages.push(...read.data.messages);
    cursor = read.data.response_metadata?.next_cursor ?? '';
    if (cursor === '') return read.data.has_more === true ? undefined : messages;
  }
  return undefined;
}

/** A stream has no files. */
function isStray({ metadata, files = [] }: FoundMessage): boolean {
  return metadata === undefined && files.length === 0;
}

function isOwn({ user, bot_id: botId }: FoundMessage, botUserId: string | undefined): boolean {
  return botId !== undefined && (botUserId === undefined || user === undefined || user === botUserId);
}

/** Compares two timestamps as text: first the seconds, padded to the same length, then the decimals. */
function isAfter(ts: string, questionTs: string | undefined): boolean {
  if (questionTs === undefined) return true;
  const [seconds = '', part = ''] = ts.split('.');
  const [thanSeconds = '', thanPart = ''] = questionTs.split('.');
  const width = Math.max(seconds.length, thanSeconds.length);
  const [left, right] = [seconds.padStart(width, '0'), thanSeconds.padStart(width, '0')];
  return left === right ? part.padEnd(9, '0') > thanPart.padEnd(9, '0') : left > right;
}

/** An answer is complete once its last part has its final snapshot; all earlier parts have theirs by then. */
function isWhole(own: readonly FoundMessage[], postKey: string): boolean {
  const ends = own.flatMap((message) => {
    const { last, merged = '' } = message.metadata?.event_payload ?? {};
    return last === undefined ? [] : [{ keys: [keyOf(message), ...merged.split(' ')], key: keyOf(message), last }];
  });
  return ends.some(
    ({ keys, last }) => keys.includes(postKey) && ends.some((other) => other.key === last && other.last === last),
  );
}

function keyOf({ metadata }: FoundMessage): string | undefined {
  return metadata?.event_type === ANSWER_EVENT ? (metadata.event_payload?.key ?? '') : undefined;
}
