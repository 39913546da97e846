import type { ConversationRef } from './conversation.ts';
import type { DeliveryId, PersonId } from './ids.ts';

/**
 * Names of the Redis keys that one partition's scripts touch together. They share the hash tag `{pN}`, so that accept,
 * begin and commit are each one atomic script, on Redis Cluster too.
 */
export interface ConversationKeys {
  /** Hash: epoch (the fence), seq, the turn that is running and its crashes, the stop mark. */
  state: string;
  /** List of accepted messages that wait for their turn, oldest first; each is a sealed entry. */
  inbox: string;
  /** List of messages that wait for their sender's sign-in. */
  held: string;
  /** List of sealed finished turns, oldest first. */
  history: string;
  /** List of sealed notices to be shown with the next private reply. */
  notices: string;
  /** List of sealed texts that the next private reply begins with, since they could be brought no other way. */
  leftovers: string;
  /** The sealed summary of turns that no prompt holds any more; or, where there is none, a mark that begins with `-`. Tries are noted behind a dot. */
  summary: string;
  /** Sorted set of the partition's conversations with waiting messages, by when they were last touched. */
  pending: string;
}

export function conversationKeys({ id, partition }: ConversationRef): ConversationKeys {
  const tag = `{p${partition}}`;
  return {
    state: `${tag}:state:${id}`,
    inbox: `${tag}:inbox:${id}`,
    held: `${tag}:held:${id}`,
    history: `${tag}:history:${id}`,
    notices: `${tag}:notices:${id}`,
    leftovers: `${tag}:leftovers:${id}`,
    summary: `${tag}:summary:${id}`,
    pending: pendingKey(partition),
  };
}

/** The sorted set of conversations that have something waiting in a partition. */
export function pendingKey(partition: number): string {
  return `{p${partition}}:pending`;
}

/** What precedes a delivery id in the name of its message record. */
export function messageKeyPrefix(partition: number): string {
  return `{p${partition}}:message:`;
}

/** The record of one accepted message, a hash; `message-record.ts` names its fields. */
export function messageKey(partition: number, deliveryId: DeliveryId): string {
  return `${messageKeyPrefix(partition)}${deliveryId}`;
}

/** Sorted set of the partition's answers that something is to follow, by when the next try is due. */
export function followUpsKey(partition: number): string {
  return `{p${partition}}:follow-ups`;
}

/** What precedes a delivery id in the name of the hash of what is to follow its answer: sealed, when it was committed, who has it. */
export function followUpKeyPrefix(partition: number): string {
  return `{p${partition}}:follow-up:`;
}

/** What precedes a person's pseudonym in the name of the hash of what they chose, sealed, one field a chat. */
export function preferencesKeyPrefix(partition: number): string {
  return `{p${partition}}:preferences:`;
}

/** A sealed image of a message that waits or may be asked again. */
export function mediaKey(partition: number, mediaId: string): string {
  return `{p${partition}}:media:${mediaId}`;
}

/** List of the names of what is kept of one person's images and files in a partition's chats, oldest first. @param owner a pseudonym of the person's id, for this alone */
export function mediaKeptKey(partition: number, owner: string): string {
  return `{p${partition}}:media-kept:${owner}`;
}

/** Sorted set of the posts to one place of a chat whose fate may be unknown, and of messages there that are nobody's (reply/scripts/post.lua). */
export function placeKey(partition: number, place: string): string {
  return `{p${partition}}:place:${place}`;
}

/** Sorted set of the threads in which a person spoke in one chat, by when; `id` is that person's conversation of the chat. */
export function threadsKey({ id, partition }: ConversationRef): string {
  return `{p${partition}}:threads:${id}`;
}

/** Stands for a while once an answer stands in a thread, where such a thread may go on without naming the bot. */
export function followedKey({ id, partition }: ConversationRef): string {
  return `{p${partition}}:followed:${id}`;
}

/** Hash of what was thought of one answer, by the message that it answers (feedback/scripts/keep-feedback.lua names its fields). */
export function feedbackKey(partition: number, answer: DeliveryId): string {
  return `{p${partition}}:feedback:${answer}`;
}

/** Sorted set of the partition's rated answers, by when they were rated last. */
export function ratedAnswersKey(partition: number): string {
  return `{p${partition}}:rated`;
}

/** Sorted set of the answers that one person rated in a partition's chats, likewise. @param rater a pseudonym of the person's id, for this alone */
export function ratedByKey(partition: number, rater: string): string {
  return `{p${partition}}:rated-by:${rater}`;
}

/** Hash of a person's use of the partition's chats in one month, by the person's pseudonym: counters of each day. */
export function usageKey(partition: number, personId: PersonId, month: string): string {
  return `{p${partition}}:usage:${personId}:${month}`;
}

/** Counts a person's messages of the current minute over all chats. It shares its node with no chat's keys on a cluster. @param name a pseudonym of the person's id, for this alone */
export function personRateKey(name: string): string {
  return `{person:${name}}:rate:minute`;
}

/** Counts the bytes that were kept of a person's images and files over all chats. @param name as above, for this alone */
export function mediaShareKey(name: string): string {
  return `{person:${name}}:media-bytes`;
}

/** Set of a person's documents that were too heavy to read (conversation/heavy-files.ts). @param name as above, for this alone */
export function heavyFilesKey(name: string): string {
  return `{person:${name}}:heavy-files`;
}

/** Stands while no file of this person is read. */
export function heavyFilesWaitKey(name: string): string {
  return `{person:${name}}:heavy-files:wait`;
}

/** Counter of a chat's messages in the current minute; on a cluster of a person's in the chats of one partition too. */
export function rateKey(partition: number, who: string): string {
  return `{p${partition}}:rate:${who}`;
}
