import { threadsKey } from '../../domain/partition-keys.ts';
import { conversationOf, type ConversationRef } from '../../domain/conversation.ts';
import type { InboundMessage } from '../../domain/message.ts';
import type { ConversationId } from '../../domain/ids.ts';

/** The list of the threads of a chat in which a person spoke: what /forget has to look at, since keys tell nothing. */
export function threadIndexOf(message: InboundMessage): string {
  const { threadId: _left, ...chat } = message.chat;
  return threadsKey(conversationOf({ ...message, chat }, 'member'));
}

/** The thread that a turn's words are kept under beside, or as, its own conversation. */
export function threadSpokenIn(
  message: InboundMessage,
  own: ConversationRef,
  opened: ConversationRef | undefined,
): { index: string; id: ConversationId } | undefined {
  const thread = opened ?? (message.chat.threadId === undefined ? undefined : own);
  return thread && { index: threadIndexOf(message), id: thread.id };
}
