import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { personIdOf, type ConversationRef } from '../domain/conversation.ts';
import type { DeliveryId } from '../domain/ids.ts';
import { fieldsToRead } from '../domain/message-record.ts';
import type { InboundMessage } from '../domain/message.ts';
import { messageKey } from '../domain/partition-keys.ts';
import type { Identity } from '../identity/identity.ts';
import { platformForTenant } from '../platforms/of-tenant.ts';
import type { Platform } from '../platforms/platform.ts';
import { MediaStore } from '../turn/conversation/images/media-store.ts';
import { prefetchFiles } from '../turn/files/fetch-files.ts';
import { prefetchImages } from '../turn/images/fetch-images.ts';

interface PrefetchOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  identity: Identity | undefined;
  platform: Platform;
}

/** Fetches the attachments of a signed-in person's message before its turn begins; a turn that begins earlier does it itself. */
export async function prefetchAttachments(
  { redis, keyRing, identity, platform }: PrefetchOptions,
  accepted: { conversation: ConversationRef; message: InboundMessage; deliveryId: DeliveryId },
): Promise<void> {
  const { conversation, message, deliveryId } = accepted;
  const { sender } = message;
  const place = {
    platform: platformForTenant(platform, message.tenant) ?? platform,
    store: new MediaStore(redis, keyRing),
    conversation,
    personId: personIdOf(message, sender.userId),
    isSignedIn: true,
  };
  // An attachment of a message answered meanwhile may already be deleted and must not be stored again.
  const record = messageKey(conversation.partition, deliveryId);
  const stillWaits = async () => (await redis.hget(record, ...fieldsToRead('state'))) === 'accepted';
  const isKnown = async () =>
    (await stillWaits()) && (!identity || (await identity.accountOf(message, sender.userId))?.status === 'active');
  const attached = { message, deliveryId, isKnown };
  await Promise.all([prefetchImages(place, attached), prefetchFiles(place, attached)]);
}
