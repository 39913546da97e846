import { messageFields, postFieldOf } from '../domain/message-record.ts';
import { DAY_MS } from '../../shared/clock.ts';
import { messageKey } from '../domain/partition-keys.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { localize, type Language } from '../../shared/text/texts.ts';
import type { Platform } from '../platforms/platform.ts';
import { REPLY_TEXTS } from '../i18n/reply-texts.ts';
import { postKeyOf } from './post-ledger.ts';

export interface OldAnswer {
  partition: number;
  /** The message that the superseded answer replied to. */
  deliveryId: DeliveryId;
}

/**
 * Makes a superseded answer point to the new answer below it, where the platform can edit messages. Called once the new
 * answer is visible. Safe to repeat, including by a worker that has lost the turn. An answer that can no longer be edited
 * stays unchanged.
 */
export async function markSuperseded(
  { redis, platform, language }: { redis: RedisClient; platform: Platform; language: Language },
  { partition, deliveryId }: OldAnswer,
): Promise<void> {
  const { push } = platform;
  if (!push) return;
  const key = messageKey(partition, deliveryId);
  const record = await redis.hgetall(key);
  // Deferred reconciliation of the old answer must not overwrite this text.
  if (record['state'] !== undefined)
    await redis
      .multi()
      .hset(key, ...messageFields({ replaced: '1' }))
      .pexpire(key, DAY_MS)
      .exec();
  const content = platform.renderReply({ text: localize(REPLY_TEXTS.answeredBelow, language), finished: true });
  for (let part = 0; ; part += 1) {
    const handle = record[postFieldOf(part)];
    if (handle === undefined) return;
    if (handle !== 'posting') await push.update(handle, { content, finished: true }, postKeyOf(deliveryId, part));
  }
}
