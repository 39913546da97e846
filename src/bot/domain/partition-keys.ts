import type { ConversationRef } from './conversation.ts';
import type { DeliveryId, PersonId } from './ids.ts';

/**
 * Redis keys that the scripts of one partition use together. They share the hash tag `{pN}`, so that accept, claim and
 * commit are each one atomic script, on Redis Cluster too.
 */
export interface ConversationKeys {
  /** Hash: epoch (the fence), seq, the running turn and its crashes, the stop mark. */
  state: string;
  /** List of accepted messages that wait for their turn, oldest first, each an encrypted entry. */
  inbox: string;
  /** List of messages that wait for their sender's sign-in. */
  held: string;
  /** List of encrypted finished turns, oldest first. */
  history: string;
  /** List of encrypted notices for the next private reply. */
  notices: string;
  /** List of encrypted texts for the start of the next private reply, because they could not be delivered otherwise. */
  leftovers: string;
  /**
   * The encrypted summary of turns that no longer fit a prompt, or a mark that begins with `-`. Attempts are noted after a
   * dot.
   */
  summary: string;
  /** Sorted set of the partition's conversations with waiting messages, by last touch. */
  pending: string;
}

export function conversationKeys({ id, partition }: ConversationRef): ConversationKeys {
  const tag = `{p${partition}}`;
  return {
    state: stateKeyPrefix(partition) + id,
    inbox: `${tag}:inbox:${id}`,
    held: `${tag}:held:${id}`,
    history: `${tag}:history:${id}`,
    notices: `${tag}:notices:${id}`,
    leftovers: `${tag}:leftovers:${id}`,
    summary: `${tag}:summary:${id}`,
    pending: pendingKey(partition),
  };
}

/** Key prefix of the states of a partition's conversations; the conversation id follows. */
export function stateKeyPrefix(partition: number): string {
  return `{p${partition}}:state:`;
}

/** Sorted set of a partition's conversations with waiting messages. */
export function pendingKey(partition: number): string {
  return `{p${partition}}:pending`;
}

/** Key prefix of message records; the delivery id follows. */
export function messageKeyPrefix(partition: number): string {
  return `{p${partition}}:message:`;
}

/** Hash with the record of one accepted message; `message-record.ts` names its fields. */
export function messageKey(partition: number, deliveryId: DeliveryId): string {
  return `${messageKeyPrefix(partition)}${deliveryId}`;
}

/** Sorted set of the partition's answers with due follow-up messages, by next attempt. */
export function followUpsKey(partition: number): string {
  return `{p${partition}}:follow-ups`;
}

/** Key prefix of the hash of an answer's follow-up: encrypted text, commit time, current owner; the delivery id follows. */
export function followUpKeyPrefix(partition: number): string {
  return `{p${partition}}:follow-up:`;
}

/** Key prefix of the hash of a person's preferences, encrypted, one field per chat; the person's pseudonym follows. */
export function preferencesKeyPrefix(partition: number): string {
  return `{p${partition}}:preferences:`;
}

/** Encrypted image of a message that waits or may be asked again. */
export function mediaKey(partition: number, mediaId: string): string {
  return `{p${partition}}:media:${mediaId}`;
}

/**
 * List of the names of one person's stored images and files in a partition's chats, oldest first.
 * @param owner a pseudonym of the person's id, used only here
 */
export function mediaKeptKey(partition: number, owner: string): string {
  return `{p${partition}}:media-kept:${owner}`;
}

/**
 * Sorted set of the posts to one place of a chat whose outcome may be unknown, and of unowned messages there
 * (reply/scripts/post.lua).
 */
export function placeKey(partition: number, place: string): string {
  return `{p${partition}}:place:${place}`;
}

/**
 * Sorted set of the threads in which a person wrote in one chat, by time; `id` is that person's conversation of the chat.
 */
export function threadsKey({ id, partition }: ConversationRef): string {
  return `{p${partition}}:threads:${id}`;
}

/** Set for a while once a thread contains an answer, if the thread may continue without naming the bot. */
export function followedKey({ id, partition }: ConversationRef): string {
  return `{p${partition}}:followed:${id}`;
}

/**
 * Hash of the ratings of one answer, by the id of the answered message (feedback/scripts/keep-feedback.lua names its
 * fields).
 */
export function feedbackKey(partition: number, answer: DeliveryId): string {
  return `{p${partition}}:feedback:${answer}`;
}

/** Sorted set of the partition's rated answers, by last rating. */
export function ratedAnswersKey(partition: number): string {
  return `{p${partition}}:rated`;
}

/**
 * Sorted set of the answers that one person rated in a partition's chats, by last rating.
 * @param rater a pseudonym of the person's id, used only here
 */
export function ratedByKey(partition: number, rater: string): string {
  return `{p${partition}}:rated-by:${rater}`;
}

/** Sorted set of the partition's dead letters (queue/dead-letters.ts), by time. */
export function deadLettersKey(partition: number): string {
  return `{p${partition}}:dead-letters`;
}

/** Key prefix of the hash of a dead letter: reason, place and encrypted messages; the id of its turn follows. */
export function deadLetterKeyPrefix(partition: number): string {
  return `{p${partition}}:dead-letter:`;
}

/** Keys of one budget; they share a slot. */
export interface BudgetKeys {
  /** Hash of what is charged in a month. */
  used: string;
  /** Hash of the questions in progress. */
  reserved: string;
  /** What one turn was charged. */
  charged: string;
}

/** @param subject a pseudonym of the person, department, group or model */
export function budgetKeys(subject: string, { month, turnId }: { month: string; turnId: string }): BudgetKeys {
  const slot = `{budget:${subject}}`;
  return { used: `${slot}:used:${month}`, reserved: `${slot}:reserved`, charged: `${slot}:charged:${turnId}` };
}

/** Hash of daily counters: a person's usage of the partition's chats in one month. */
export function usageKey(partition: number, personId: PersonId, month: string): string {
  return `{p${partition}}:usage:${personId}:${month}`;
}

/**
 * Sorted set of a person's questions that got no helpful answer in the partition's chats, by time
 * (conversation/unanswered-store.ts).
 */
export function unansweredKey(partition: number, personId: PersonId): string {
  return `{p${partition}}:unanswered:${personId}`;
}

/**
 * Counter of a person's messages in the current minute over all chats. On a cluster it is not in a partition's slot.
 * @param name a pseudonym of the person's id, used only here
 */
export function personRateKey(name: string): string {
  return `{person:${name}}:rate:minute`;
}

/**
 * Counter of the stored bytes of a person's images and files over all chats. @param name a pseudonym as above, used only
 * here
 */
export function mediaShareKey(name: string): string {
  return `{person:${name}}:media-bytes`;
}

/**
 * Set of a person's documents that were too heavy to read (conversation/heavy-files.ts). @param name a pseudonym as above,
 * used only here
 */
export function heavyFilesKey(name: string): string {
  return `{person:${name}}:heavy-files`;
}

/** Set while none of this person's files are read. */
export function heavyFilesWaitKey(name: string): string {
  return `{person:${name}}:heavy-files:wait`;
}

/** Checks of delivered answers (reply/deferred-reconciliation.ts): a sorted set by due time, and a hash of the encrypted checks. */
export const RECONCILIATION_KEYS = { due: '{reconciliations}:due', checks: '{reconciliations}:checks' } as const;

/**
 * Sorted set of the conversations of a partition in which a person asked, and of their indexes of threads, by time. /export
 * and erasure need it, because the names of conversations do not reveal people.
 */
export function chatsKey(partition: number, personId: PersonId): string {
  return `{p${partition}}:chats:${personId}`;
}

/** Stream of audit entries that were not moved into files yet (bot/audit). */
export function auditKey(partition: number): string {
  return `{p${partition}}:audit`;
}

/** Set of people on legal hold: nothing that they asked in the partition's chats expires. */
export function holdsKey(partition: number): string {
  return `{p${partition}}:holds`;
}

/** List of encrypted turns that a person on legal hold has deleted or repeated. They are no part of any prompt. */
export function onHoldKey({ id, partition }: ConversationRef): string {
  return `{p${partition}}:on-hold:${id}`;
}

/** Counter of a chat's messages in the current minute; on a cluster also of a person's messages in one partition's chats. */
export function rateKey(partition: number, who: string): string {
  return `{p${partition}}:rate:${who}`;
}
