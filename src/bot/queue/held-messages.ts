import { loadScript } from '../../shared/redis/lua-script.ts';
import { conversationKeys, messageKeyPrefix, onHoldKey } from '../domain/partition-keys.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { PersonId } from '../domain/ids.ts';
import { REMEMBER_DELIVERY_MS } from './accept.ts';
import { CLEARED_MARK_MS } from './cleared-mark.ts';
import { INBOX_ENTRY } from './inbox-entry.ts';

const heldForScript = loadScript(import.meta.url, './scripts/held-for.lua', {
  libraries: [INBOX_ENTRY],
  keys: ['held'],
  args: ['messagePrefix', 'person', 'oldestMs'],
  answer: { inPrivate: 'number', inGroup: 'number', tooOldInGroup: 'number' },
});
const releaseScript = loadScript(import.meta.url, './scripts/release.lua', {
  libraries: [INBOX_ENTRY],
  constants: { CLEARED_MARK_MS, RECORD_LIFE_MS: REMEMBER_DELIVERY_MS },
  keys: ['state', 'inbox', 'pending', 'held', 'history', 'summary', 'onHold'],
  args: ['conversationId', 'messagePrefix', 'epoch?', 'owner?'],
  answer: { count: 'number', isTurnOpen: 'flag' },
});

/** Numbers of a person's messages that wait for sign-in. */
export interface HeldCounts {
  inPrivate: number;
  inGroup: number;
  /** Sent in a group too long ago to be answered. */
  tooOldInGroup: number;
}

export interface ReleaseResult {
  /** Number of released messages. -1 if the turn that was to give up its place no longer has one. */
  count: number;
  /** A turn of the conversation is open. It may have begun before the sign-in and may still be held. */
  isTurnOpen: boolean;
}

interface Release {
  conversation: ConversationRef;
  /** Whose messages are released. Undefined releases everyone's. */
  personId: PersonId | undefined;
  /** Epoch of the turn that gives up its place. */
  epoch?: number;
}

/** Releases held messages in the order in which they were accepted (scripts/release.lua). Safe to repeat. */
export function releaseHeld(redis: RedisClient, { conversation, personId, epoch }: Release): Promise<ReleaseResult> {
  const { id: conversationId, partition } = conversation;
  const args = { conversationId, messagePrefix: messageKeyPrefix(partition), epoch, owner: personId };
  return releaseScript.run(redis, { ...conversationKeys(conversation), onHold: onHoldKey(conversation) }, args);
}

/** Counts the messages of a conversation that wait for one person's sign-in. */
export function heldFor(
  redis: RedisClient,
  { conversation, personId, oldestMs }: { conversation: ConversationRef; personId: PersonId; oldestMs: number },
): Promise<HeldCounts> {
  const args = { messagePrefix: messageKeyPrefix(conversation.partition), person: personId, oldestMs };
  return heldForScript.run(redis, conversationKeys(conversation), args);
}
