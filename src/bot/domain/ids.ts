/**
 * Ids are strings that the compiler tells apart: a person's id is never given where a conversation's is expected. The brand exists
 * for the compiler alone. `domain/conversation.ts` makes ids; an `as…Id` stands only where one is read back, out of Redis, a job,
 * or what a platform or the institution sent.
 */
declare const brand: unique symbol;

/** A pseudonym of a person on a platform, for keys and logs: 32 hex digits. */
export type PersonId = string & { readonly [brand]: 'person' };

/** The institution's own id of an account: usually a staff or student number. */
export type AccountId = string & { readonly [brand]: 'account' };

/** The id of a message's delivery, which names its answer and its turn too: 40 hex digits. */
export type DeliveryId = string & { readonly [brand]: 'delivery' };

/** The id of a conversation: 32 hex digits; holds nothing readable. */
export type ConversationId = string & { readonly [brand]: 'conversation' };

export const asPersonId = (id: string): PersonId => id as PersonId;
export const asAccountId = (id: string): AccountId => id as AccountId;
export const asDeliveryId = (id: string): DeliveryId => id as DeliveryId;
export const asConversationId = (id: string): ConversationId => id as ConversationId;
