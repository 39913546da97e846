import type { Conversation } from '../directory.ts';
import type { MessengerContext } from '../protocol.ts';
import type { StoredMessage } from '../stored-message.ts';
import { viewsOf } from './bot-messages.ts';
import type { BlockContent } from './read-blocks.ts';
import { namedBlocks } from './read-buttons.ts';
import { newBotMessage } from './threads.ts';
import type { TsClock, Workspace } from './workspace.ts';
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
  side: Pick<MessengerContext, 'chatLog' | 'store' | 'bot' | 'nowMs'>,
  { workspace, clock }: { workspace: Workspace; clock: TsClock },
  { conversation, words, onlyFor, threadTs, questionId, isOfChannel }: EphemeralMessage,
): Promise<StoredMessage> {
  const fresh = await newBotMessage(side, clock, { conversation, threadTs });
  const blocks = words.blocks && namedBlocks(words.blocks);
  const message: StoredMessage = {
    ...fresh,
    text: shownText(words.markdown, workspace, side.bot.name),
    note: words.note === '' ? undefined : words.note,
    buttons: viewsOf(blocks),
    onlyFor,
    slack: { ...fresh.slack, raw: words.markdown, blocks, questionId, isCommand: isOfChannel ? undefined : true },
  };
  await side.chatLog.write(message);
  return message;
}
