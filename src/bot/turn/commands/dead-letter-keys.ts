import type { RedisClient } from '../../../shared/redis/redis.ts';
import { deadLetterKeyPrefix, deadLettersKey } from '../../domain/partition-keys.ts';
import type { ConversationId, PersonId } from '../../domain/ids.ts';

/** Keys of one person's stored dead letters in these conversations, for erasure. */
export async function keysOfDeadLetters(
  redis: RedisClient,
  partition: number,
  { personId, conversations }: { personId: PersonId; conversations: ReadonlySet<ConversationId> },
): Promise<string[]> {
  const ids = await redis.zrange(deadLettersKey(partition), '0', '-1');
  const keys = ids.map((id) => deadLetterKeyPrefix(partition) + id);
  const found = await Promise.all(keys.map((key) => redis.hmget(key, 'owner', 'conversation')));
  const isOwn = ([owner, conversation]: readonly (string | null)[] = []) =>
    owner === personId && conversations.has(conversation as ConversationId);
  return keys.filter((_key, index) => isOwn(found[index]));
}
