import type { Conversation } from '../directory.ts';
import type { MessengerContext } from '../protocol.ts';
import type { StoredMessage } from '../stored-message.ts';
import { viewsOf } from './bot-messages.ts';
import type { BlockContent } from './read-blocks.ts';
import { namedBlocks } from './read-buttons.ts';
import { threadRoot, threadView } from './threads.ts';
import { channelIdOf, messageIdOf, type TsClock, type Workspace } from './workspace.ts';
import { shownText } from './written-text.ts';

/** Messages of the bot outside the normal channel messages. */
export interface EphemeralMessage {
  conversation: Conversation;
  words: BlockContent;
  /** The only person who sees it. Defaults to everyone. */
  onlyFor?: string;
  threadTs?: string;
  questionId?: string;
  /** Whether it is a normal channel message, for the bot too. */
  isOfChannel: boolean;
}

/**
 * Shows a response to a command or a click, or an ephemeral message.
 * @throws SlackFault `thread_not_found`, `cannot_reply_to_message`
 */
export async function writeEphemeral(
  { chatLog, store, bot, nowMs }: Pick<MessengerContext, 'chatLog' | 'store' | 'bot' | 'nowMs'>,
  { workspace, clock }: { workspace: Workspace; clock: TsClock },
  { conversation, words, onlyFor, threadTs, questionId, isOfChannel }: EphemeralMessage,
): Promise<StoredMessage> {
  const root = threadTs === undefined ? undefined : await threadRoot(store, conversation, threadTs);
  const ts = clock.next();
  const blocks = words.blocks && namedBlocks(words.blocks);
  const message: StoredMessage = {
    id: messageIdOf(channelIdOf(conversation), ts),
    conversationId: conversation.id,
    sender: 'bot',
    senderName: bot.name,
    state: 'final',
    text: shownText(words.markdown, workspace, bot.name),
    images: [],
    atMs: nowMs(),
    note: words.note === '' ? undefined : words.note,
    thread: root && threadView(root),
    buttons: viewsOf(blocks),
    onlyFor,
    slack: { ts, threadTs, raw: words.markdown, blocks, questionId, isCommand: isOfChannel ? undefined : true },
  };
  await chatLog.write(message);
  return message;
}
