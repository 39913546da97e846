import { DAY_MS, MINUTE_MS } from '../../shared/clock.ts';
import { CodedError } from '../../shared/coded-error.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import { followedKey } from '../domain/partition-keys.ts';

/** How long a thread may continue without naming the bot after the last answer in it: over a weekend. */
const FOLLOWED_LIFE_MS = 3 * DAY_MS;

/** What the commit of an answer records about its thread. */
export function followedNote(thread: ConversationRef): { key: string; lifeMs: number } {
  return { key: followedKey(thread), lifeMs: FOLLOWED_LIFE_MS };
}

/** Life of the note that the last snapshot of an answer is being written, if no commit replaces it. */
const ENDING_LIFE_MS = MINUTE_MS;
const ENDING = 'ending';

/** Thrown while the first answer of a thread is being completed: a later check knows whether the thread is followed. */
export class AnswerEndingError extends CodedError<'answer_ending'> {}

/**
 * Notes, before the last snapshot of an answer is written, that its commit may make the thread followed. A reply can arrive
 * between the two: the person sees the answer before the platform has acknowledged it.
 */
export async function noteAnswerEnding(redis: RedisClient, thread: ConversationRef): Promise<void> {
  await redis.set(followedKey(thread), ENDING, 'PX', ENDING_LIFE_MS, 'NX');
}

/**
 * Whether a thread contains an answer of the bot (SECURITY.md unaddressed-talk). Nothing else is asked about messages that
 * do not address the bot.
 * @throws AnswerEndingError while this is undecided: the thread's history, which the next answer needs, is not written yet
 */
export async function isFollowed(redis: RedisClient, thread: ConversationRef): Promise<boolean> {
  const note = await redis.get(followedKey(thread));
  if (note === ENDING) throw new AnswerEndingError('answer_ending', 'An answer is being finished in this thread');
  return note !== null;
}
