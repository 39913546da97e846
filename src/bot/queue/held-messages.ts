import { loadScript } from '../../shared/redis/lua-script.ts';
import { conversationKeys, messageKeyPrefix } from '../domain/partition-keys.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { PersonId } from '../domain/ids.ts';
import { REMEMBER_DELIVERY_MS } from './accept.ts';
import { CLEARED_MARK_MS } from './cleared-mark.ts';

const heldForScript = loadScript(import.meta.url, './scripts/held-for.lua', {
  keys: ['held'],
  args: ['messagePrefix', 'person', 'oldestMs'],
  answer: { inPrivate: 'number', inGroup: 'number', tooOldInGroup: 'number' },
});
const releaseScript = loadScript(import.meta.url, './scripts/release.lua', {
  constants: { CLEARED_MARK_MS, RECORD_LIFE_MS: REMEMBER_DELIVERY_MS },
  keys: ['state', 'inbox', 'pending', 'held', 'history', 'summary'],
  args: ['conversationId', 'messagePrefix', 'epoch?', 'owner?'],
  answer: { count: 'number', isTurnOpen: 'flag' },
});

/** How many of a person's messages wait for their sign-in. */
export interface Held {
  inPrivate: number;
  inGroup: number;
  /** Said so long ago in a group that they are not answered any more. */
  tooOldInGroup: number;
}

/** What a release met. */
export interface Released {
  /** How many messages came back; less than none when the turn that was to give its place up has none any more. */
  count: number;
  /** A turn of the conversation is open. It may have begun before the sign-in, and be held yet. */
  isTurnOpen: boolean;
}

interface Release {
  conversation: ConversationRef;
  /** Whose messages come back; everybody's where that is not known. */
  personId: PersonId | undefined;
  /** Of the turn that gives its place up. */
  epoch?: number;
}

/** Brings held messages back, in the order in which all were accepted (scripts/release.lua). Safe to repeat. */
export function releaseHeld(redis: RedisClient, { conversation, personId, epoch }: Release): Promise<Released> {
  const { id: conversationId, partition } = conversation;
  const args = { conversationId, messagePrefix: messageKeyPrefix(partition), epoch, owner: personId };
  return releaseScript.run(redis, conversationKeys(conversation), args);
}

/** Looks what waits in a conversation for one person's sign-in. */
export function heldFor(
  redis: RedisClient,
  { conversation, personId, oldestMs }: { conversation: ConversationRef; personId: PersonId; oldestMs: number },
): Promise<Held> {
  const args = { messagePrefix: messageKeyPrefix(conversation.partition), person: personId, oldestMs };
  return heldForScript.run(redis, conversationKeys(conversation), args);
}
