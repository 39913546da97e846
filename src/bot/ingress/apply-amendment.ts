import { asError } from '../../shared/coded-error.ts';
import { inBackground } from '../../shared/in-background.ts';
import type { Log } from '../../shared/log.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { conversationOf, deliveryIdOf, type GroupScope } from '../domain/conversation.ts';
import type { InboundAmendment } from '../domain/message.ts';
import { platformForTenant } from '../platforms/of-tenant.ts';
import type { Platform } from '../platforms/platform.ts';
import type { Inbox } from '../queue/accept.ts';
import type { AmendResult } from '../queue/edit-message.ts';
import type { WakeQueue } from '../queue/wake-queue.ts';
import { removeInvitation } from '../reply/take-invitation-away.ts';
import { NOT_STORED, type Arrival, type DeliveryOf, type Handled } from './arrival.ts';

export interface AmendmentOptions {
  redis: RedisClient;
  inbox: Inbox;
  wakeQueue: WakeQueue;
  groupScope: GroupScope;
  log: Log;
  /** Applies the amendment to a message that was already answered. Safe to repeat. */
  amendAnswered(platform: Platform, amendment: InboundAmendment, amended: AmendResult): Promise<void>;
}

/**
 * Withdraws a message that a person deleted, or changes one that they edited, whatever its state. The platform delivers the
 * amendment again if it cannot be applied now.
 */
export async function applyAmendment(
  options: AmendmentOptions,
  { platform, deadline }: Arrival,
  { amendment, answer }: DeliveryOf<'amendment'>,
): Promise<Handled> {
  const { inbox, groupScope, log } = options;
  const { message } = amendment;
  try {
    const conversation = conversationOf(message, groupScope);
    // Amending an answered message on the platform is not retried at once.
    const amending = deadline
      .retry(() => inbox.amend(conversation, amendment))
      .then((amended) => amendTurn(options, platform, { amendment, amended }));
    await deadline.within(amending);
    return { answer, outcome: 'event' };
  } catch (error) {
    log.warn(
      { error: asError(error), platform: platform.name, trace: deliveryIdOf(message) },
      'a deletion or edit of a message could not be recorded',
    );
    return NOT_STORED;
  }
}

/** Applies an amendment that the inbox has recorded to the turn that contains the message. */
async function amendTurn(
  { redis, wakeQueue, log, amendAnswered }: AmendmentOptions,
  platform: Platform,
  { amendment, amended }: { amendment: InboundAmendment; amended: AmendResult },
): Promise<void> {
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
