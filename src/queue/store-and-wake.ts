import { Cluster } from 'ioredis';
import { inBackground } from '../base/in-background.ts';
import { asError } from '../base/coded-error.ts';
import type { Log } from '../base/log.ts';
import type { RedisClient } from '../base/redis.ts';
import type { ConversationRef } from '../platforms/conversation-key.ts';
import type { InboundMessage } from '../platforms/platform.ts';
import type { Accepted, Inbox } from './accept.ts';
import type { WakeQueue } from './wake-queue.ts';

export interface StoreAndWakeOptions {
  /** The connection over which the inbox accepts and the queue wakes. */
  redis: RedisClient;
  inbox: Inbox;
  wakeQueue: WakeQueue;
  log: Log;
}

/**
 * Stores a message and wakes its conversation, in one round trip where one connection carries both. A worker that is woken
 * before the message is there finds nothing, and the message would wait for the sweeper; so a wake that may have come
 * first is sent again behind it. Waits for the storing alone: a wake that gets lost is the sweeper's to repeat.
 * @throws as `Inbox.accept`
 */
export function storeAndWake(
  { redis, inbox, wakeQueue, log }: StoreAndWakeOptions,
  conversation: ConversationRef,
  message: InboundMessage,
): Promise<Accepted> {
  const wake = async () => {
    try {
      await wakeQueue.wake(conversation);
    } catch (error) {
      log.debug({ error: asError(error) }, 'a wake was not sent');
    }
  };
  const storing = inbox.accept(conversation, message);
  // The nodes of a cluster know no common order.
  if (redis instanceof Cluster) {
    storing.then(wake, () => undefined);
    return storing;
  }
  let isStored = false;
  storing.then(
    () => (isStored = true),
    () => undefined,
  );
  // Answers come in the order in which things were done: this one overtook a script that had to be sent once more.
  const repeatIfFirst = async () => {
    await wake();
    if (!isStored) await storing.then(wake, () => undefined);
  };
  inBackground(repeatIfFirst);
  return storing;
}
