import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { languageOfText, localize } from '../../../shared/text/texts.ts';
import { conversationOf, type GroupScope } from '../../domain/conversation.ts';
import { REPLY_TEXTS } from '../../i18n/reply-texts.ts';
import type { Platform, UndeliverableAnswer } from '../../platforms/platform.ts';
import type { ReplyReport } from '../reply-report.ts';
import { storeDeferredMessage } from './deferred-messages.ts';

interface KeepUndeliverableOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  groupScope: GroupScope;
  report: Pick<ReplyReport, 'answerNotShown'>;
}

/**
 * Keeps an answer that the platform refused in every form for the person's next private reply, and reports it to the
 * operator. Safe to repeat.
 */
export async function keepUndeliverable(
  { redis, keyRing, groupScope, report }: KeepUndeliverableOptions,
  { name, tenant, app }: Platform,
  { replyId, userId, text }: UndeliverableAnswer,
): Promise<void> {
  const chat = { kind: 'private' as const, id: userId };
  const conversation = conversationOf({ platform: name, tenant, app, chat, sender: { userId } }, groupScope);
  const heading = localize(REPLY_TEXTS.earlierAnswer, languageOfText(text));
  await storeDeferredMessage(redis, keyRing, { conversation, deliveryId: replyId, text: `${heading}\n\n${text}` });
  report.answerNotShown({ platform: name, deliveryId: replyId });
}
