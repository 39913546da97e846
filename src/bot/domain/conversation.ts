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

/** Number of fixed partitions for conversations. Each is one Redis hash tag. Changing it would orphan stored data. */
const PARTITIONS = 64;

/** Whose conversation a mention in a group joins. A thread is always a separate conversation. */
export type GroupScope = 'member' | 'group';

/** Identifies a conversation and its partition. */
export interface ConversationRef {
  /** 32 hex digits; contains nothing readable. */
  id: ConversationId;
  /** Shared by all conversations of a chat, so that a poll finds its reply whatever the scope is. */
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
 * Decides which conversation a message belongs to (SECURITY.md one-conversation-key), from platform, tenant, app, chat kind,
 * chat, thread, and the person in private chats and member-scoped groups. No other code builds conversation keys.
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

/** All partition numbers, for the sweeper. */
export const ALL_PARTITIONS: readonly number[] = Array.from({ length: PARTITIONS }, (_, index) => index);

/** Id of a message's delivery, the same for every repeat: 40 hex digits (SECURITY.md accept-once). */
export function deliveryIdOf(message: Pick<InboundMessage, 'platform' | 'tenant' | 'app' | 'messageId'>): DeliveryId {
  return asDeliveryId(hashParts(message.platform, message.tenant, message.app, message.messageId).slice(0, 40));
}

/** The last result for an object, because a turn needs the id of its message's sender at half a dozen steps. */
const lastPersonOf = new WeakMap<object, { userId: string; personId: PersonId }>();

/** A pseudonym of a person on a platform, for keys and logs: 32 hex digits. @param owner must not change afterwards */
export function personIdOf(
  owner: Readonly<{ platform: string; tenant: string; app: string }>,
  userId: string,
): PersonId {
  const last = lastPersonOf.get(owner);
  if (last?.userId === userId) return last.personId;
  const personId = asPersonId(hashParts('person', owner.platform, owner.tenant, owner.app, userId).slice(0, 32));
  lastPersonOf.set(owner, { userId, personId });
  return personId;
}
