/**
 * Branded string ids: the compiler rejects a person's id where a conversation's is expected. The brand exists only at
 * compile time. `domain/conversation.ts` creates ids; an `as...Id` function is only for an id read from Redis, a job, a
 * platform or the institution.
 */
declare const brand: unique symbol;

/** A pseudonym of a person on a platform, for keys and logs: 32 hex digits. */
export type PersonId = string & { readonly [brand]: 'person' };

/** The institution's id of an account: usually a staff or student number. */
export type AccountId = string & { readonly [brand]: 'account' };

export const MAX_ACCOUNT_CHARS = 128;

/**
 * Account ids of all protocols: staff and student numbers, account names, e-mail-like ids, and subjects as providers issue
 * them (RFC 7519 leaves the format open). Base64url may start with any of its characters; some providers join parts with a
 * bar.
 */
export const ACCOUNT_ID = new RegExp(`^[A-Za-z0-9_-][A-Za-z0-9._@|-]{0,${MAX_ACCOUNT_CHARS - 1}}$`);

/** Id of a message's delivery, and of its answer and its turn: 40 hex digits. */
export type DeliveryId = string & { readonly [brand]: 'delivery' };

/** Id of a conversation: 32 hex digits; contains nothing readable. */
export type ConversationId = string & { readonly [brand]: 'conversation' };

export const asPersonId = (id: string): PersonId => id as PersonId;
export const asAccountId = (id: string): AccountId => id as AccountId;
export const asDeliveryId = (id: string): DeliveryId => id as DeliveryId;
export const asConversationId = (id: string): ConversationId => id as ConversationId;
