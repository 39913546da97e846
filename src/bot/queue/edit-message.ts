import { MINUTE_MS } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { deliveryIdOf, personIdOf, type ConversationRef } from '../domain/conversation.ts';
import { asConversationId, asDeliveryId, type DeliveryId } from '../domain/ids.ts';
import type { InboundAmendment, InboundMessage } from '../domain/message.ts';
import { conversationKeys, mediaKey, messageKey, messageKeyPrefix } from '../domain/partition-keys.ts';
import { mergeKeyOf, NEVER_MERGED, sealMessage } from './inbox-entry.ts';
import { STOP_CHANNEL } from './wake-queue.ts';

/** So long a message may come later than the word that it was taken back or changed: beyond a platform's last repetition. */
const NOTE_LIFE_MS = 15 * MINUTE_MS;
/** More pictures and files of one message are never kept. */
const MOST_MEDIA = 20;

const amendScript = loadScript(import.meta.url, './scripts/edit-message.lua', {
  constants: { STOP_CHANNEL, NOTE_LIFE_MS },
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

/** What became of an amendment. `running`: the message's turn ends, or begins anew; its conversation is to be woken. */
export interface Amended {
  where: 'unknown' | 'waiting' | 'held' | 'running' | 'answered' | 'nothing';
  /** Where the message lies. */
  conversation: ConversationRef;
  deliveryId: DeliveryId;
  /** Of an answered one: the turn in which it was; of a held one the turn whose answer is the invitation. */
  turnId: DeliveryId;
  /** Of an answered one: the same was told before. */
  isRepeat: boolean;
  /** Of a deleted one that was held: nothing waits under that invitation any more. */
  nothingWaits: boolean;
}

export interface AmendOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  standsAlone?(message: InboundMessage): boolean;
}

/**
 * Takes back what a person deleted, or changes what they edited, wherever it is by now (SECURITY.md taken-back). Safe to repeat, and in
 * any order: what comes before its message is remembered for it.
 * @throws whatever the connection throws when Redis is away
 */
export async function amendMessage(
  { redis, keyRing, standsAlone }: AmendOptions,
  supposed: ConversationRef,
  { kind, message, editedAt = 0, mayCome, imagesBefore }: InboundAmendment,
): Promise<Amended> {
  const deliveryId = deliveryIdOf(message);
  const owner = personIdOf(message, message.sender.userId);
  const { partition } = supposed;
  const sealed = sealMessage(keyRing, deliveryId, message);
  const mergeKey = standsAlone?.(message) === true ? NEVER_MERGED : mergeKeyOf(message, owner);
  // What is kept is named by its place in the message, which may be another's now.
  const forgetMedia = async (count: number) => {
    const media = Array.from({ length: count }, (_, at) => mediaKey(partition, `${deliveryId}:${at}`));
    if (media.length > 0) await redis.del(...media);
  };
  if (kind === 'edited') await forgetMedia(imagesBefore);
  const record = messageKey(partition, deliveryId);
  const run = ({ id }: ConversationRef) => {
    const { state, inbox, held } = conversationKeys({ id, partition });
    const args = { deliveryId, owner, kind, editedAt, sealed, mergeKey, mayCome };
    const place = { conversationId: id, messagePrefix: messageKeyPrefix(partition) };
    return amendScript.run(redis, { record, state, inbox, held }, { ...args, ...place });
  };
  let conversation = supposed;
  let amended = await run(conversation);
  // It was accepted under another `GROUP_SCOPE`, perhaps.
  if (amended.where === 'elsewhere') {
    conversation = { id: asConversationId(amended.conversationId), partition };
    amended = await run(conversation);
  }
  // From here on nothing more of it is kept (keep-media.lua).
  if (kind === 'deleted') await forgetMedia(MOST_MEDIA);
  const { where, isRepeat, nothingWaits } = amended;
  const turnId = asDeliveryId(amended.turnId);
  return { where: where === 'elsewhere' ? 'nothing' : where, conversation, deliveryId, turnId, isRepeat, nothingWaits };
}
