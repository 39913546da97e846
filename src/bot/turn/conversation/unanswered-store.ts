import { DAY_MS } from '../../../shared/clock.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { scanKeys } from '../../../shared/redis/scan-keys.ts';
import type { ConversationRef } from '../../domain/conversation.ts';
import { asConversationId, asDeliveryId, type DeliveryId, type PersonId } from '../../domain/ids.ts';
import { unansweredKey } from '../../domain/partition-keys.ts';
import type { TurnClaim, UnansweredChange, UnansweredReason } from '../../domain/turn.ts';
import { readHistory } from './read-history.ts';

/** How long an unanswered question is counted. Its text is not stored here and lives as long as its conversation. */
export const UNANSWERED_LIFE_MS = 40 * DAY_MS;
const KEYS_A_STEP = 100;

/** A question without a helpful answer. */
export interface UnansweredQuestion {
  atMs: number;
  reason: UnansweredReason;
  turnId: DeliveryId;
  conversation: ConversationRef;
}

/** Adds a turn to its person's unanswered questions. Stored in the chat's partition, so that the commit can write it. */
export function unansweredChange(
  { turnId, conversation }: Pick<TurnClaim, 'turnId' | 'conversation'>,
  personId: PersonId,
  reason: UnansweredReason,
): UnansweredChange {
  return {
    key: unansweredKey(conversation.partition, personId),
    entry: [reason, turnId, conversation.id].join(':'),
    lifeMs: UNANSWERED_LIFE_MS,
  };
}

/** All unanswered questions since a time. For administrators only: searches all keys. */
export async function readUnanswered(redis: RedisClient, sinceMs: number): Promise<UnansweredQuestion[]> {
  const keys = await scanKeys(redis, '{p*}:unanswered:*');
  const found: UnansweredQuestion[] = [];
  // In steps: the page of administrators shares its connection and event loop with deliveries.
  for (let from = 0; from < keys.length; from += KEYS_A_STEP) {
    const step = keys.slice(from, from + KEYS_A_STEP);
    const lists = await Promise.all(step.map((key) => redis.zrangebyscore(key, sinceMs, '+inf', 'WITHSCORES')));
    for (const [index, list] of lists.entries()) {
      const partition = Number(/^\{p(\d+)\}/.exec(step[index] ?? '')?.[1]);
      for (let at = 0; at < list.length; at += 2) {
        const [reason = '', turnId = '', id = ''] = (list[at] ?? '').split(':');
        if (reason !== 'no-source' && reason !== 'refused') continue;
        const conversation = { id: asConversationId(id), partition };
        found.push({ atMs: Number(list[at + 1]), reason, turnId: asDeliveryId(turnId), conversation });
      }
    }
  }
  return found;
}

/** The stored texts of turns, by turn. A turn whose conversation has ended, or was deleted, has none. */
export async function questionTexts(
  { redis, keyRing }: { redis: RedisClient; keyRing: KeyRing },
  turns: readonly Pick<UnansweredQuestion, 'turnId' | 'conversation'>[],
): Promise<Map<DeliveryId, string>> {
  const wanted = new Set(turns.map(({ turnId }) => turnId));
  const conversations = new Map(turns.map(({ conversation }) => [conversation.id, conversation]));
  const texts = new Map<DeliveryId, string>();
  for (const conversation of conversations.values())
    for (const { turn } of await readHistory(redis, keyRing, conversation))
      if (wanted.has(turn.turnId)) texts.set(turn.turnId, turn.userText);
  return texts;
}
