import type { MessageView } from '../api.ts';
import type { Conversation } from '../directory.ts';
import type { MessageStore } from '../message-store.ts';
import type { MessengerContext } from '../protocol.ts';
import type { StoredMessage } from '../stored-message.ts';
import { SlackFault } from './slack-fault.ts';
import { channelIdOf, messageIdOf, type TsClock } from './workspace.ts';

/** Maximum messages of a conversation that are searched. */
export const SEARCHED_MESSAGES = 500;

const PREVIEW_CHARS = 200;

/**
 * The first message of a thread.
 * @throws SlackFault `thread_not_found`, or `cannot_reply_to_message` for a message that is itself a reply
 */
export async function threadRoot(
  store: MessageStore,
  conversation: Conversation,
  threadTs: string,
): Promise<StoredMessage> {
  const root = await store.get(messageIdOf(channelIdOf(conversation), threadTs)).catch(() => undefined);
  if (!root) throw new SlackFault('thread_not_found');
  if (root.slack?.threadTs !== undefined) throw new SlackFault('cannot_reply_to_message');
  return root;
}

/**
 * A new message of the bot, still without words, in the channel or in a thread.
 * @throws SlackFault `thread_not_found`, `cannot_reply_to_message`
 */
export async function newBotMessage(
  { store, bot, nowMs }: Pick<MessengerContext, 'store' | 'bot' | 'nowMs'>,
  clock: TsClock,
  { conversation, threadTs }: { conversation: Conversation; threadTs?: string },
) {
  const root = threadTs === undefined ? undefined : await threadRoot(store, conversation, threadTs);
  const ts = clock.next();
  return {
    id: messageIdOf(channelIdOf(conversation), ts),
    conversationId: conversation.id,
    sender: 'bot',
    senderName: bot.name,
    state: 'final',
    text: '',
    images: [],
    atMs: nowMs(),
    thread: root && threadView(root),
    slack: { ts, threadTs, raw: '' },
  } satisfies StoredMessage;
}

/** The thread's name in a reply on the page. */
export function threadView(root: StoredMessage): NonNullable<MessageView['thread']> {
  return { rootId: root.id, senderName: root.senderName, text: [...root.text].slice(0, PREVIEW_CHARS).join('') };
}

/** `ts` of the thread for a reply to this message: the message's own, or that of the thread it belongs to. */
export function threadTsOf({ slack }: StoredMessage): string | undefined {
  return slack?.threadTs ?? slack?.ts;
}
