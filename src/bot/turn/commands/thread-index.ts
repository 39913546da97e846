import { threadsKey } from '../../domain/partition-keys.ts';
import { conversationOf, type ConversationRef } from '../../domain/conversation.ts';
import type { InboundMessage } from '../../domain/message.ts';
import type { ConversationId } from '../../domain/ids.ts';

/**
 * Redis key of the list of a chat's threads in which a person wrote. /forget needs the list, because other keys do not
 * reveal their chat or person.
 */
export function threadIndexOf(message: InboundMessage): string {
  const { threadId: _left, ...chat } = message.chat;
  return threadsKey(conversationOf({ ...message, chat }, 'member'));
}

/** The thread that stores this turn, besides its own conversation or as its own conversation. */
export function threadSpokenIn(
  message: InboundMessage,
  own: ConversationRef,
  opened: ConversationRef | undefined,
): { index: string; id: ConversationId } | undefined {
  const thread = opened ?? (message.chat.threadId === undefined ? undefined : own);
  return thread && { index: threadIndexOf(message), id: thread.id };
}
