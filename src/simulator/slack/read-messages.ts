import type { Conversation } from '../directory.ts';
import type { StoredMessage } from '../stored-message.ts';
import { flagOf, textOf, tsOf, type CallArguments } from './call-arguments.ts';
import type { MessengerContext } from '../protocol.ts';
import { SEARCHED_MESSAGES } from './searched-messages.ts';
import { threadRoot } from './threads.ts';
import { APP_ID, BOT_ID, BOT_USER_ID, memberIdOf, TEAM_ID } from './workspace.ts';
import { writtenText } from './written-text.ts';

/** Where messages are, and whom they mention. */
type Shelf = Pick<MessengerContext, 'store' | 'directory' | 'bot'>;

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
  return page(side, [root, ...replies], { args, limit: DEFAULT_LIMIT.replies });
}

async function slackMessages(side: Shelf, { id }: Conversation): Promise<StoredMessage[]> {
  return (await side.store.list(id, SEARCHED_MESSAGES)).filter(
    ({ slack }) => slack !== undefined && slack.isCommand !== true,
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

function page(
  side: Shelf,
  messages: readonly StoredMessage[],
  { args, limit }: { args: CallArguments; limit: number },
): object {
  const asked = Number(args['limit'] ?? limit);
  const most = Number.isInteger(asked) && asked > 0 ? Math.min(asked, DEFAULT_LIMIT.replies) : limit;
  const withPayload = flagOf(args, 'include_all_metadata');
  return {
    messages: messages.slice(0, most).map((message) => wireMessage(side, message, withPayload)),
    has_more: messages.length > most,
  };
}

/** Without `include_all_metadata` only the type of a message's metadata is returned (PLATFORM_FACTS.md slack-web-api). */
function wireMessage(side: Shelf, { slack, sender, text }: StoredMessage, withPayload: boolean): object {
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
    files: slack?.fileIds?.map((id) => ({ id })),
    metadata: metadata && (withPayload ? metadata : { event_type: metadata.event_type }),
  };
}
