import { inBackground } from '../../shared/in-background.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { localize, type Bilingual } from '../../shared/text/texts.ts';
import { personIdOf, type ConversationRef } from '../domain/conversation.ts';
import type { DeliveryId } from '../domain/ids.ts';
import { fieldsToRead } from '../domain/message-record.ts';
import type { InboundMessage } from '../domain/message.ts';
import { messageKey } from '../domain/partition-keys.ts';
import { platformForTenant } from '../platforms/of-tenant.ts';
import type { Platform, Press } from '../platforms/platform.ts';

/**
 * Whether the person who pressed a button of an answer is the one who asked (SECURITY.md own-buttons). The owner is
 * known for a day; after that this returns true, and the turn searches the person's latest questions.
 */
export async function isPressedByAsker(
  redis: RedisClient,
  { partition }: ConversationRef,
  message: InboundMessage,
  { answer }: { answer: DeliveryId },
): Promise<boolean> {
  const owner = await redis.hget(messageKey(partition, answer), fieldsToRead('owner')[0]);
  return owner === null || owner === personIdOf(message, message.sender.userId);
}

/** Tells the person who pressed a button, and only them, what came of it. Runs in the background; failures are ignored. */
export function notifyPresser(
  platform: Platform,
  tenant: string | undefined,
  { target, language }: Press,
  text: Bilingual,
): void {
  const push = platformForTenant(platform, tenant ?? platform.tenant)?.push;
  inBackground(() => push?.postEphemeral?.(target, localize(text, language)));
}
