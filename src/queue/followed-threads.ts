import { DAY_MS } from '../base/clock.ts';
import type { RedisClient } from '../base/redis.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import { followedKey } from '../domain/partition-keys.ts';

/** So long after the last answer in it a thread may go on without naming the bot: over a weekend. */
const FOLLOWED_LIFE_MS = 3 * DAY_MS;

/** What the commit of an answer notes of the thread in which it stands. */
export function followedNote(thread: ConversationRef): { key: string; lifeMs: number } {
  return { key: followedKey(thread), lifeMs: FOLLOWED_LIFE_MS };
}

/** Whether an answer of ours stands in a thread (SECURITY.md unaddressed-talk): one question, and all that is asked about the talk of others. */
export async function isFollowed(redis: RedisClient, thread: ConversationRef): Promise<boolean> {
  return (await redis.exists(followedKey(thread))) === 1;
}
