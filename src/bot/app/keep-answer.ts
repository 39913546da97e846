import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { conversationOf, type GroupScope } from '../domain/conversation.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { Platform } from '../platforms/platform.ts';
import { keepLeftover } from '../reply/follow-ups/deferred-messages.ts';
import type { ReplyReport } from '../reply/reply-report.ts';

interface KeepAnswerOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  groupScope: GroupScope;
  report: Pick<ReplyReport, 'answerNotShown'>;
}

/**
 * Keeps an answer that the platform refused in every form for the person's next private reply, and reports it to the
 * operator. Safe to repeat.
 */
export function createKeepAnswer({ redis, keyRing, groupScope, report }: KeepAnswerOptions) {
  return async (
    { name, tenant, app }: Platform,
    { replyId, userId, text }: { replyId: DeliveryId; userId: string; text: string },
  ): Promise<void> => {
    const chat = { kind: 'private' as const, id: userId };
    const conversation = conversationOf({ platform: name, tenant, app, chat, sender: { userId } }, groupScope);
    await keepLeftover(redis, keyRing, { conversation, deliveryId: replyId, text });
    report.answerNotShown({ platform: name, deliveryId: replyId });
  };
}
