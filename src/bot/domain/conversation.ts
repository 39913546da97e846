import { hashParts } from '../../shared/crypto/ids.ts';
import {
  asConversationId,
  asDeliveryId,
  asPersonId,
  type ConversationId,
  type DeliveryId,
  type PersonId,
} from './ids.ts';
import type { InboundMessage, Sender, Chat } from './message.ts';

/** Conversations are spread over this many fixed partitions; each is one Redis hash tag. Changing it would orphan stored data. */
const PARTITIONS = 64;

/** Whose conversation a group mention joins; a thread is always its own. */
export type GroupScope = 'member' | 'group';

/** Where a conversation lives. */
export interface ConversationRef {
  /** Hex id of the conversation, 32 digits; holds nothing readable. */
  id: ConversationId;
  /** The partition's number; a chat's conversations share it, so that a poll finds its reply whatever the scope is. */
  partition: number;
}

interface ConversationOf {
  platform: string;
  tenant: string;
  app: string;
  chat: Chat;
  sender: Sender;
}

/**
 * The one function that decides which conversation a message belongs to (SECURITY.md one-conversation-key): platform, tenant, app, chat
 * kind, chat, thread, and the person in private chats and member-scoped groups. No other code builds conversation keys.
 */
export function conversationOf(
  { platform, tenant, app, chat, sender }: ConversationOf,
  scope: GroupScope,
): ConversationRef {
  const chatParts = [platform, tenant, app, chat.kind, chat.id];
  const isPersonal = chat.kind === 'private' || (scope === 'member' && chat.threadId === undefined);
  return {
    id: asConversationId(
      hashParts('conversation', ...chatParts, chat.threadId ?? '', isPersonal ? sender.userId : '').slice(0, 32),
    ),
    partition: Number.parseInt(hashParts('partition', ...chatParts).slice(0, 8), 16) % PARTITIONS,
  };
}

/** The numbers of all partitions, for the sweeper. */
export const ALL_PARTITIONS: readonly number[] = Array.from({ length: PARTITIONS }, (_, index) => index);

/** The id of a message's delivery, the same however often it arrives: 40 hex digits (SECURITY.md accept-once). */
export function deliveryIdOf(message: Pick<InboundMessage, 'platform' | 'tenant' | 'app' | 'messageId'>): DeliveryId {
  return asDeliveryId(hashParts(message.platform, message.tenant, message.app, message.messageId).slice(0, 40));
}

/** A pseudonym of a person on a platform, for keys and logs: 32 hex digits. */
export function personIdOf(owner: { platform: string; tenant: string; app: string }, userId: string): PersonId {
  return asPersonId(hashParts('person', owner.platform, owner.tenant, owner.app, userId).slice(0, 32));
}
