import type { Conversation } from '../directory.ts';
import type { StoredMessage } from '../stored-message.ts';
import { flagOf, textOf, tsOf, type CallArguments } from './call-arguments.ts';
import type { MessengerContext } from '../protocol.ts';
import { filesOf } from './event-payload.ts';
import { SlackFault } from './slack-fault.ts';
import { SEARCHED_MESSAGES, threadRoot } from './threads.ts';
import { APP_ID, BOT_ID, BOT_USER_ID, memberIdOf, TEAM_ID } from './workspace.ts';
import { writtenText } from './written-text.ts';

/** Where messages are, and whom they mention. */
type Shelf = Pick<MessengerContext, 'store' | 'directory' | 'bot' | 'media' | 'url'>;

const DEFAULT_LIMIT = { history: 100, replies: 1_000 } as const;

/** conversations.history: messages outside threads, newest first. */
export async function readHistory(side: Shelf, conversation: Conversation, args: CallArguments): Promise<object> {
  const messages = await slackMessages(side, conversation);
  const found = messages.filter((one) => one.slack?.threadTs === undefined && isWithin(one, args)).reverse();
  return page(side, found, { args, limit: DEFAULT_LIMIT.history });
}

/** conversations.replies: the thread's first message, then the replies, oldest first. @throws SlackFault `thread_not_found` */
export async function readReplies(side: Shelf, conversation: Conversation, args: CallArguments): Promise<object> {
  const threadTs = tsOf(args, 'ts') ?? '';
  const root = await threadRoot(side.store, conversation, threadTs);
  const messages = await slackMessages(side, conversation);
  const replies = messages.filter((one) => one.slack?.threadTs === threadTs && isWithin(one, args));
  const all = messages.filter((one) => one.slack?.threadTs === threadTs);
  const found = await page(side, [root, ...replies], { args, limit: DEFAULT_LIMIT.replies });
  const [first, ...rest] = found.messages;
  return { ...found, messages: isFirstPage(args) ? [{ ...first, reply_count: all.length }, ...rest] : found.messages };
}

async function slackMessages(side: Shelf, { id }: Conversation): Promise<StoredMessage[]> {
  return (await side.store.list(id, SEARCHED_MESSAGES)).filter(
    ({ slack, sender, isDeleted }) =>
      slack !== undefined && slack.isCommand !== true && (sender === 'bot' || isDeleted !== true),
  );
}

/** Between `oldest` and `latest`; the limits themselves only with `inclusive`. */
function isWithin({ slack }: StoredMessage, args: CallArguments): boolean {
  const ts = Number((slack?.ts ?? '').replace('.', ''));
  const border = (name: string) => {
    const value = textOf(args, name);
    if (value === undefined) return undefined;
    const [seconds = '0', part = ''] = value.split('.');
    return Number(`${seconds}${part.padEnd(6, '0').slice(0, 6)}`);
  };
  const [oldest, latest] = [border('oldest'), border('latest')];
  const isInclusive = flagOf(args, 'inclusive');
  const isAfter = oldest === undefined || ts > oldest || (isInclusive && ts === oldest);
  return isAfter && (latest === undefined || ts < latest || (isInclusive && ts === latest));
}

/** A cursor is the position of the next page. */
function isFirstPage(args: CallArguments): boolean {
  return textOf(args, 'cursor') === undefined;
}

async function page(
  side: Shelf,
  messages: readonly StoredMessage[],
  { args, limit }: { args: CallArguments; limit: number },
): Promise<{ messages: object[]; has_more: boolean; response_metadata?: object }> {
  const cursor = textOf(args, 'cursor') ?? '0';
  if (!/^\d{1,6}$/.test(cursor)) throw new SlackFault('invalid_cursor');
  const from = Number(cursor);
  const asked = Number(args['limit'] ?? limit);
  const pageSize = Number.isInteger(asked) && asked > 0 ? Math.min(asked, DEFAULT_LIMIT.replies) : limit;
  const withPayload = flagOf(args, 'include_all_metadata');
  const next = from + pageSize;
  const hasMore = messages.length > next;
  return {
    messages: await Promise.all(messages.slice(from, next).map((message) => wireMessage(side, message, withPayload))),
    has_more: hasMore,
    response_metadata: hasMore ? { next_cursor: String(next) } : undefined,
  };
}

/** Without `include_all_metadata` only the type of a message's metadata is returned (PLATFORM_FACTS.md slack-web-api). */
async function wireMessage(side: Shelf, message: StoredMessage, withPayload: boolean): Promise<object> {
  const { slack, sender, text } = message;
  const { metadata } = slack ?? {};
  const author =
    sender === 'bot'
      ? { user: BOT_USER_ID, bot_id: BOT_ID, app_id: APP_ID, text: slack?.raw ?? text }
      : { user: memberIdOf(sender), text: writtenText(text, side) };
  return {
    type: 'message',
    team: TEAM_ID,
    ...author,
    ts: slack?.ts,
    thread_ts: slack?.threadTs,
    blocks: slack?.blocks,
    files: slack?.fileIds?.map((id) => ({ id })) ?? (sender === 'bot' ? undefined : await filesOf(side, message)),
    metadata: metadata && (withPayload ? metadata : { event_type: metadata.event_type }),
  };
}
