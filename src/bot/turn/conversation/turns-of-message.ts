import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import type { ConversationRef } from '../../domain/conversation.ts';
import type { DeliveryId } from '../../domain/ids.ts';
import { mediaKey } from '../../domain/partition-keys.ts';
import { storedMediaOf, sealTurn, type HistoryTurn } from './history.ts';
import { readHistory } from './read-history.ts';

/** A message that was deleted or edited after it was answered. */
interface AnsweredMessage {
  deliveryId: DeliveryId;
  conversation: ConversationRef;
}

/** The finished turns that contain a message, as encrypted records, and the keys of their images and files. */
export async function turnsOf(
  redis: RedisClient,
  keyRing: KeyRing,
  { deliveryId, conversation }: AnsweredMessage,
): Promise<{ sealed: string[]; media: string[] }> {
  const found = (await readHistory(redis, keyRing, conversation)).filter(({ turn }) =>
    messagesOf(turn).includes(deliveryId),
  );
  const media = found.flatMap(({ turn }) => storedMediaOf(turn));
  return { sealed: found.map(({ sealed }) => sealed), media: media.map((id) => mediaKey(conversation.partition, id)) };
}

/** The turns that contain only this message, as records before and after an edit, and whether the newest is among them. */
export async function editedTurns(
  redis: RedisClient,
  keyRing: KeyRing,
  { deliveryId, conversation }: AnsweredMessage,
  text: string,
): Promise<{ changes: { sealed: string; becomes: string }[]; isLast: boolean }> {
  const kept = await readHistory(redis, keyRing, conversation);
  const isOnly = ({ turn }: { turn: HistoryTurn }) => messagesOf(turn).every((id) => id === deliveryId);
  const found = kept.filter(isOnly);
  const changed = found.filter(({ turn }) => turn.userText !== text);
  const reworded = (turn: HistoryTurn) => sealTurn(keyRing, conversation.id, { ...turn, userText: text });
  const last = kept.at(-1);
  return {
    changes: changed.map(({ sealed, turn }) => ({ sealed, becomes: reworded(turn) })),
    isLast: last !== undefined && isOnly(last),
  };
}

/** The messages that a turn answered. */
export function messagesOf({ messageIds, turnId }: HistoryTurn): readonly DeliveryId[] {
  return messageIds ?? [turnId];
}
