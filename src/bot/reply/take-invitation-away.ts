import type { RedisClient } from '../../shared/redis/redis.ts';
import { localize } from '../../shared/text/texts.ts';
import { fieldsToRead, messageFields, postFieldOf } from '../domain/message-record.ts';
import { messageKey } from '../domain/partition-keys.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { Platform } from '../platforms/platform.ts';
import { REPLY_TEXTS } from '../i18n/reply-texts.ts';
import { postKeyOf } from './post-ledger.ts';

/**
 * Removes a sign-in invitation after its asker has deleted the last question that waited for it. If the platform does not
 * delete the message, edits it to say so. Safe to repeat.
 * @throws Error if the platform takes no calls now; the deletion must be delivered again
 */
export async function removeInvitation(
  redis: RedisClient,
  platform: Platform | undefined,
  { partition, deliveryId }: { partition: number; deliveryId: DeliveryId },
): Promise<void> {
  const key = messageKey(partition, deliveryId);
  const open = fieldsToRead('keep');
  const [handle, keep] = await redis.hmget(key, ...fieldsToRead(postFieldOf(0)), ...open);
  if (!platform?.push || keep !== '1' || typeof handle !== 'string' || handle === 'posting') return;
  const removed = await platform.push.remove(handle, false);
  if (removed === 'later') throw new Error('An invitation could not be deleted yet');
  if (removed !== 'gone') await endWith(platform, handle, postKeyOf(deliveryId, 0));
  const delivery = removed === 'gone' ? 'removed' : 'live';
  await redis
    .multi()
    .hdel(key, ...open)
    .hset(key, ...messageFields({ finished: '1', delivery }))
    .exec();
}

/** Bilingual because the question and its language are no longer known. */
async function endWith({ push, renderReply }: Platform, handle: string, postKey: string): Promise<void> {
  const content = renderReply({ text: localize(REPLY_TEXTS.nothingWaits, 'zh'), finished: true });
  const updated = await push?.update(handle, { content, finished: true }, postKey);
  if (updated?.result !== 'sent' && updated?.result !== 'refused')
    throw new Error('An invitation could not be ended yet');
}
