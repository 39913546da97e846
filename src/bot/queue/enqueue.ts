import { inBackground } from '../../shared/in-background.ts';
import type { Log } from '../../shared/log.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { InboundMessage } from '../domain/message.ts';
import type { Accepted, Inbox } from './accept.ts';
import type { WakeQueue } from './wake-queue.ts';

export interface StoreAndWakeOptions {
  inbox: Inbox;
  wakeQueue: WakeQueue;
  log: Log;
}

/**
 * Stores a message, and wakes its conversation once it is stored: a worker that is woken before finds nothing, and the message would
 * wait for the sweeper. Waits for the storing alone: a wake that gets lost is the sweeper's to repeat.
 * @throws as `Inbox.accept`
 */
export async function storeAndWake(
  { inbox, wakeQueue, log }: StoreAndWakeOptions,
  conversation: ConversationRef,
  message: InboundMessage,
): Promise<Accepted> {
  const accepted = await inbox.accept(conversation, message);
  inBackground(
    () => wakeQueue.wake(conversation),
    (error) => log.debug({ error }, 'a wake was not sent'),
  );
  return accepted;
}
