import { messageKey } from '../base/partition-keys.ts';
import type { RedisClient } from '../base/redis.ts';
import { say, type Language } from '../base/texts.ts';
import type { Platform } from '../platforms/platform.ts';
import { REPLY_TEXTS } from '../texts/reply-texts.ts';
import { postFieldOf, postKeyOf } from './post-ledger.ts';

/** No answer has more visible messages. */
const MOST_PARTS = 20;

export interface OldAnswer {
  partition: number;
  /** The message that it answered. */
  deliveryId: string;
}

/**
 * Makes an answer that was asked for again point to the new one, which stands below it, where the platform can edit what
 * stands. Called once the new answer is visible; safe to repeat, also by a worker that has been replaced meanwhile. What
 * cannot be edited any more stays as it is.
 */
export async function pointBelow(
  { redis, platform, language }: { redis: RedisClient; platform: Platform; language: Language },
  { partition, deliveryId }: OldAnswer,
): Promise<void> {
  const { push } = platform;
  if (!push) return;
  const parts = Array.from({ length: MOST_PARTS }, (_, part) => part);
  const handles = await redis.hmget(messageKey(partition, deliveryId), ...parts.map(postFieldOf));
  const content = platform.renderReply({ text: say(REPLY_TEXTS.answeredBelow, language), finished: true });
  for (const [part, handle] of handles.entries()) {
    if (handle === null || handle === 'posting') continue;
    await push.update(handle, { content, finished: true }, postKeyOf(deliveryId, part));
  }
}
