import { inBackground } from '../../shared/in-background.ts';
import type { Log } from '../../shared/log.ts';
import { conversationOf, type GroupScope } from '../domain/conversation.ts';
import type { InboundAmendment } from '../domain/message.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { platformForTenant } from '../platforms/of-tenant.ts';
import type { Platform } from '../platforms/platform.ts';
import type { Inbox } from '../queue/accept.ts';
import type { AmendResult } from '../queue/edit-message.ts';
import type { WakeQueue } from '../queue/wake-queue.ts';
import { removeInvitation } from '../reply/take-invitation-away.ts';

export interface AmendmentOptions {
  redis: RedisClient;
  inbox: Pick<Inbox, 'amend'>;
  wakeQueue: Pick<WakeQueue, 'wake'>;
  groupScope: GroupScope;
  log: Log;
  /** Applies the amendment to a message that was already answered. Safe to repeat. */
  amendAnswered(platform: Platform, amendment: InboundAmendment, amended: AmendResult): Promise<void>;
}

/**
 * Withdraws a message that a person deleted, or changes one that they edited, whatever its state.
 * @throws any error of the store; the platform must then deliver the amendment again
 */
export async function handleAmendment(
  { redis, inbox, wakeQueue, groupScope, log, amendAnswered }: AmendmentOptions,
  platform: Platform,
  amendment: InboundAmendment,
): Promise<void> {
  const amended = await inbox.amend(conversationOf(amendment.message, groupScope), amendment);
  // A running turn restarts by itself; the wake covers a turn whose worker has died.
  if (amended.where === 'running')
    inBackground(
      () => wakeQueue.wake(amended.conversation),
      (error) => log.debug({ error }, 'a worker could not be woken; the sweeper does it later'),
    );
  if (amended.where === 'held' && amended.nothingWaits) {
    const { turnId: deliveryId, conversation } = amended;
    const { partition } = conversation;
    await removeInvitation(redis, platformForTenant(platform, amendment.message.tenant), { partition, deliveryId });
  }
  if (amended.where === 'answered') await amendAnswered(platform, amendment, amended);
}
