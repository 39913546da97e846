import { MINUTE_MS } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { deliveryIdOf, personIdOf, type ConversationRef } from '../domain/conversation.ts';
import { asConversationId, asDeliveryId, type DeliveryId } from '../domain/ids.ts';
import type { InboundAmendment, InboundMessage } from '../domain/message.ts';
import { conversationKeys, mediaKey, messageKey, messageKeyPrefix } from '../domain/partition-keys.ts';
import { INBOX_ENTRY, mergeKeyOf, NEVER_MERGED, sealMessage } from './inbox-entry.ts';
import { TURN_NEWS } from '../domain/turn-news.ts';

/** How long an edit or deletion is remembered for a message that arrives later. Longer than any platform retries. */
const NOTE_LIFE_MS = 15 * MINUTE_MS;
/** Maximum images and files kept for one message. */
const MAX_MEDIA = 20;

const amendScript = loadScript(import.meta.url, './scripts/edit-message.lua', {
  libraries: [INBOX_ENTRY, TURN_NEWS],
  constants: { NOTE_LIFE_MS },
  keys: ['record', 'state', 'inbox', 'held'],
  args: [
    ...(['deliveryId', 'conversationId', 'messagePrefix', 'owner', 'kind', 'editedAt'] as const),
    ...(['sealed', 'mergeKey', 'mayCome'] as const),
  ],
  answer: {
    where: ['unknown', 'elsewhere', 'waiting', 'held', 'running', 'answered', 'nothing'],
    conversationId: 'text',
    turnId: 'text',
    isRepeat: 'flag',
    nothingWaits: 'flag',
  },
});

/** Result of an amendment. `running`: the message's turn ends or restarts, and the caller must wake its conversation. */
export interface AmendResult {
  where: 'unknown' | 'waiting' | 'held' | 'running' | 'answered' | 'nothing';
  /** The conversation that contains the message. */
  conversation: ConversationRef;
  deliveryId: DeliveryId;
  /** For `answered`, the turn that contained the message. For `held`, the turn whose answer is the invitation. */
  turnId: DeliveryId;
  /** For `answered`: the same amendment was reported before. */
  isRepeat: boolean;
  /** For a deleted `held` message: no other message waits under its invitation. */
  nothingWaits: boolean;
}

export interface AmendOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  isUnmergeable?(message: InboundMessage): boolean;
}

/**
 * Deletes or edits a message in whatever state it is (SECURITY.md taken-back). Safe to repeat and in any order: an amendment
 * that arrives before its message is remembered.
 * @throws the connection's error when Redis is unavailable
 */
export async function amendMessage(
  { redis, keyRing, isUnmergeable }: AmendOptions,
  supposed: ConversationRef,
  { kind, message, editedAt = 0, mayArriveLater, imagesBefore }: InboundAmendment,
): Promise<AmendResult> {
  const deliveryId = deliveryIdOf(message);
  const owner = personIdOf(message, message.sender.userId);
  const { partition } = supposed;
  const sealed = sealMessage(keyRing, deliveryId, message);
  const mergeKey = isUnmergeable?.(message) === true ? NEVER_MERGED : mergeKeyOf(message, owner);
  // Media keys contain the position in the message, which the edit may give to another image.
  const forgetMedia = async (count: number) => {
    const media = Array.from({ length: count }, (_, at) => mediaKey(partition, `${deliveryId}:${at}`));
    if (media.length > 0) await redis.del(...media);
  };
  if (kind === 'edited') await forgetMedia(imagesBefore);
  const record = messageKey(partition, deliveryId);
  const run = ({ id }: ConversationRef) => {
    const { state, inbox, held } = conversationKeys({ id, partition });
    const args = { deliveryId, owner, kind, editedAt, sealed, mergeKey, mayCome: mayArriveLater };
    const place = { conversationId: id, messagePrefix: messageKeyPrefix(partition) };
    return amendScript.run(redis, { record, state, inbox, held }, { ...args, ...place });
  };
  let conversation = supposed;
  let amended = await run(conversation);
  // The message may have been accepted under another `GROUP_SCOPE`.
  if (amended.where === 'elsewhere') {
    conversation = { id: asConversationId(amended.conversationId), partition };
    amended = await run(conversation);
  }
  // From here on keep-media.lua refuses to keep media of the message.
  if (kind === 'deleted') await forgetMedia(MAX_MEDIA);
  const { where, isRepeat, nothingWaits } = amended;
  const turnId = asDeliveryId(amended.turnId);
  return { where: where === 'elsewhere' ? 'nothing' : where, conversation, deliveryId, turnId, isRepeat, nothingWaits };
}
