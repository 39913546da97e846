import { asError } from '../../shared/coded-error.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Log } from '../../shared/log.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import {
  conversationOf,
  deliveryIdOf,
  personIdOf,
  type ConversationRef,
  type GroupScope,
} from '../domain/conversation.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { InboundMessage } from '../domain/message.ts';
import { PRESS_TEXTS } from '../i18n/feedback-texts.ts';
import type { Platform } from '../platforms/platform.ts';
import type { Inbox } from '../queue/accept.ts';
import { enqueue } from '../queue/enqueue.ts';
import { isFollowed } from '../queue/thread-subscriptions.ts';
import type { WakeQueue } from '../queue/wake-queue.ts';
import { readLiveReply, refusalText, stopAcceptedText } from '../reply/read-live-reply.ts';
import { NOT_STORED, type Arrival, type DeliveryOf, type Handled } from './arrival.ts';
import { notifyRefused } from './notify-refused.ts';
import { isPressedByAsker, notifyPresser } from './presses.ts';

export interface MessageOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  inbox: Inbox;
  wakeQueue: WakeQueue;
  groupScope: GroupScope;
  /** Called for each new message once it is stored, to fetch its images meanwhile. Must not throw or wait. */
  onAccepted(
    platform: Platform,
    accepted: { conversation: ConversationRef; message: InboundMessage; deliveryId: DeliveryId },
  ): void;
  log: Log;
}

/** Stores a message that is meant for the bot. The platform delivers it again if it cannot be stored now. */
export async function acceptMessage(
  options: MessageOptions,
  { platform, deadline }: Arrival,
  { message, answer, pressed, isUnaddressed }: DeliveryOf<'message'>,
): Promise<Handled> {
  const { log, groupScope, redis } = options;
  const conversation = conversationOf(message, groupScope);
  try {
    // Messages between other people are not processed further (SECURITY.md unaddressed-talk).
    const isOurs = !isUnaddressed || (await deadline.retry(() => isFollowed(redis, conversation)));
    if (!isOurs) return { answer: answer(undefined), outcome: 'ignored' };
    if (pressed && !(await deadline.retry(() => isPressedByAsker(redis, conversation, message, pressed)))) {
      notifyPresser(platform, message.tenant, pressed, PRESS_TEXTS.notYours);
      return { answer: answer(undefined), outcome: 'ignored' };
    }
    const { deliveryId, result } = await deadline.retry(() => enqueue(options, conversation, message));
    if (result === 'new') {
      options.onAccepted(platform, { conversation, message, deliveryId });
      return { answer: answer({ replyId: deliveryId, content: '', finished: false }), outcome: 'accepted', deliveryId };
    }
    const outcome = result === 'repeat' ? 'repeated' : result;
    if (platform.push) {
      // This platform does not show the HTTP answer to people.
      if (result !== 'repeat' && !isStop(message)) notifyRefused(options, platform, message, result);
      if (result === 'repeat' && pressed) notifyPresser(platform, message.tenant, pressed, PRESS_TEXTS.askedAgain);
      return { answer: answer(undefined), outcome, deliveryId };
    }
    if (result !== 'repeat') {
      const content = isStop(message) ? stopAcceptedText() : refusalText(result);
      return { answer: answer({ replyId: deliveryId, content, finished: true }), outcome, deliveryId };
    }
    const personId = personIdOf(message, message.sender.userId);
    const reading = readLiveReply(
      { ...options, platform },
      { partition: conversation.partition, deliveryId, personId, isRepeat: true },
    );
    return { answer: answer(await deadline.within(reading)), outcome, deliveryId };
  } catch (error) {
    const deliveryId = deliveryIdOf(message);
    log.warn(
      { error: asError(error), platform: platform.name, trace: deliveryId },
      'a message could not be stored; Parley tries again',
    );
    return { ...NOT_STORED, deliveryId };
  }
}

/** A refused stop has still taken effect, so its sender must not be asked to send it again. */
function isStop({ slash }: InboundMessage): boolean {
  return slash?.word === 'stop';
}
