import { loadScript } from '../base/lua-script.ts';
import { conversationKeys, messageKeyPrefix } from '../domain/partition-keys.ts';
import type { RedisClient } from '../base/redis.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import { REMEMBER_DELIVERY_MS } from './accept.ts';
import { CLEARED_MARK_MS } from './cleared-mark.ts';

const heldForScript = loadScript(import.meta.url, './scripts/held-for.lua');
const releaseScript = loadScript(import.meta.url, './scripts/release.lua', {
  CLEARED_MARK_MS,
  RECORD_LIFE_MS: REMEMBER_DELIVERY_MS,
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
  personId: string | undefined;
  /** Of the turn that gives its place up. */
  epoch?: number;
}

/** Brings held messages back, in the order in which all were accepted (scripts/release.lua). Safe to repeat. */
export async function releaseHeld(
  redis: RedisClient,
  { conversation, personId = '', epoch }: Release,
): Promise<Released> {
  const keys = conversationKeys(conversation);
  const [count, isTurnOpen] = (await releaseScript.run(
    redis,
    [keys.state, keys.inbox, keys.pending, keys.held, keys.history, keys.summary],
    [conversation.id, messageKeyPrefix(conversation.partition), epoch ?? '', personId],
  )) as [number, string];
  return { count, isTurnOpen: isTurnOpen === '1' };
}

/** Looks what waits in a conversation for one person's sign-in. */
export async function heldFor(
  redis: RedisClient,
  { conversation, personId, oldestMs }: { conversation: ConversationRef; personId: string; oldestMs: number },
): Promise<Held> {
  const { held } = conversationKeys(conversation);
  const args = [messageKeyPrefix(conversation.partition), personId, oldestMs];
  const counts = (await heldForScript.run(redis, [held], args)) as [number, number, number];
  const [inPrivate, inGroup, tooOldInGroup] = counts;
  return { inPrivate, inGroup, tooOldInGroup };
}
