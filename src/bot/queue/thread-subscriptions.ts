import { DAY_MS, MINUTE_MS } from '../../shared/clock.ts';
import { CodedError } from '../../shared/coded-error.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import { followedKey } from '../domain/partition-keys.ts';

/** So long after the last answer in it a thread may go on without naming the bot: over a weekend. */
const FOLLOWED_LIFE_MS = 3 * DAY_MS;

/** What the commit of an answer notes of the thread in which it stands. */
export function followedNote(thread: ConversationRef): { key: string; lifeMs: number } {
  return { key: followedKey(thread), lifeMs: FOLLOWED_LIFE_MS };
}

/** Life of the note that the last snapshot of an answer is being written, should no commit replace it. */
const ENDING_LIFE_MS = MINUTE_MS;
const ENDING = 'ending';

/** Thrown for a thread whose first answer is being ended: the next check tells whether it is followed. */
export class AnswerEndingError extends CodedError<'answer_ending'> {}

/**
 * Notes, before the last snapshot of an answer is written, that its commit may make the thread a followed one. A reply can come between
 * the two: the person sees the answer before the platform has acknowledged it.
 */
export async function noteAnswerEnding(redis: RedisClient, thread: ConversationRef): Promise<void> {
  await redis.set(followedKey(thread), ENDING, 'PX', ENDING_LIFE_MS, 'NX');
}

/**
 * Whether an answer of ours stands in a thread (SECURITY.md unaddressed-talk): one question, and all that is asked about the talk of others.
 * @throws AnswerEndingError while that is being decided: the history of the thread, which the next answer needs, is not written yet
 */
export async function isFollowed(redis: RedisClient, thread: ConversationRef): Promise<boolean> {
  const note = await redis.get(followedKey(thread));
  if (note === ENDING) throw new AnswerEndingError('answer_ending', 'An answer is being ended in this thread');
  return note !== null;
}
