import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { conversationKeys } from '../../domain/partition-keys.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import type { ConversationRef } from '../../domain/conversation.ts';
import { openTurns, type HistoryTurn } from './history.ts';

/** A turn with its encrypted record in Redis. */
export interface StoredTurn {
  sealed: string;
  turn: HistoryTurn;
}

/** All stored turns of a conversation, oldest first. For commands about the record itself, not for prompts. */
export async function readHistory(
  redis: RedisClient,
  keyRing: KeyRing,
  conversation: ConversationRef,
): Promise<StoredTurn[]> {
  const records = await redis.lrange(conversationKeys(conversation).history, 0, -1);
  return records.flatMap((sealed) => openTurns(keyRing, conversation.id, [sealed]).map((turn) => ({ sealed, turn })));
}
