import { asError } from '../../shared/coded-error.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Log } from '../../shared/log.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { conversationOf, personIdOf, type GroupScope } from '../domain/conversation.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { Inbox } from '../queue/accept.ts';
import type { MissingReplies } from '../reply/missing-replies.ts';
import { readLiveReply } from '../reply/read-live-reply.ts';
import { NOT_STORED, type Arrival, type DeliveryOf, type Handled } from './arrival.ts';

export interface PollOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  inbox: Inbox;
  groupScope: GroupScope;
  missing: MissingReplies;
  log: Log;
}

/** Answers with the current snapshot of a live reply. */
export async function answerPoll(
  options: PollOptions,
  { platform, deadline }: Arrival,
  { chat, sender, replyId, answer }: DeliveryOf<'poll'>,
): Promise<Handled> {
  const onSeen = (deliveryId: DeliveryId) => options.inbox.markAnswerSeen(deliveryId);
  const owner = { platform: platform.name, tenant: platform.tenant, app: platform.app };
  const { partition } = conversationOf({ ...owner, chat, sender }, options.groupScope);
  try {
    const personId = personIdOf(owner, sender.userId);
    const reading = readLiveReply({ ...options, platform, onSeen }, { partition, deliveryId: replyId, personId });
    return { answer: answer(await deadline.within(reading)), outcome: 'polled' };
  } catch (error) {
    options.log.debug({ error: asError(error), platform: platform.name }, 'a poll could not be answered');
    return NOT_STORED;
  }
}
