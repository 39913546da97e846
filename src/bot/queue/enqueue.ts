import { inBackground } from '../../shared/in-background.ts';
import type { Log } from '../../shared/log.ts';
import { inStep, isTracing, withoutSpan } from '../../shared/tracing/tracing.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { InboundMessage } from '../domain/message.ts';
import type { AcceptResult, Inbox } from './accept.ts';
import type { WakeQueue } from './wake-queue.ts';

export interface EnqueueOptions {
  inbox: Inbox;
  wakeQueue: WakeQueue;
  log: Log;
}

/**
 * Stores a message, then wakes its conversation: a worker woken earlier would find nothing, and the message would wait for
 * the sweeper. Waits only until the message is stored; the sweeper repeats a lost wake.
 * @throws as `Inbox.accept`
 */
export async function enqueue(
  { inbox, wakeQueue, log }: EnqueueOptions,
  conversation: ConversationRef,
  message: InboundMessage,
): Promise<AcceptResult> {
  const accepted = isTracing()
    ? await inStep('accept', () => inbox.accept(conversation, message), { kind: 'producer' })
    : await inbox.accept(conversation, message);
  inBackground(
    // One wake can serve several messages.
    () => withoutSpan(() => wakeQueue.wake(conversation)),
    (error) => log.debug({ error }, 'a worker could not be woken; the sweeper does it later'),
  );
  return accepted;
}
