import { DAY_MS } from '../../shared/clock.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { ALL_PARTITIONS } from '../domain/conversation.ts';
import { asDeliveryId, type DeliveryId } from '../domain/ids.ts';
import { deadLetterKeyPrefix, deadLettersKey } from '../domain/partition-keys.ts';
import type { TurnClaim, TurnCommit } from '../domain/turn.ts';

/** How long the messages of a dead letter are stored. */
const DEAD_LETTER_LIFE_MS = 7 * DAY_MS;
/** Maximum listed dead letters of a partition. */
const MAX_LETTERS = 1_000;

/** A turn that ended without an answer because its workers crashed, or messages of it that could not be decrypted. */
export interface DeadLetter {
  /** Id of the turn; log lines use the same id as `trace`. */
  id: DeliveryId;
  atMs: number;
  why: 'crashed' | 'unreadable';
  /** Number of messages. */
  messages: number;
  /** When an administrator put it back. */
  replayedAtMs?: number;
}

/** What commit.lua stores for an administrator. */
export interface LetterChange {
  key: string;
  index: string;
  id: DeliveryId;
  why: DeadLetter['why'];
  /** Ids of its messages. */
  ids: readonly DeliveryId[];
  lifeMs: number;
  max: number;
}

/** The dead letter of a turn; undefined if all of its messages were answered. */
export function letterOf(
  { conversation: { partition }, turnId, messages, unreadable }: TurnClaim,
  { outcome }: TurnCommit,
): LetterChange | undefined {
  const isDead = outcome === 'dead';
  if (outcome === 'held' || (!isDead && unreadable.length === 0)) return undefined;
  return {
    key: deadLetterKeyPrefix(partition) + turnId,
    index: deadLettersKey(partition),
    id: turnId,
    why: isDead && messages.length > 0 ? 'crashed' : 'unreadable',
    ids: isDead ? [...messages.map(({ deliveryId }) => deliveryId), ...unreadable] : unreadable,
    lifeMs: DEAD_LETTER_LIFE_MS,
    max: MAX_LETTERS,
  };
}

/** All dead letters, newest first. */
export async function readDeadLetters(redis: RedisClient): Promise<DeadLetter[]> {
  const found = await Promise.all(ALL_PARTITIONS.map((partition) => lettersOf(redis, partition)));
  return found.flat().sort((one, other) => other.atMs - one.atMs);
}

async function lettersOf(redis: RedisClient, partition: number): Promise<DeadLetter[]> {
  const ids = await redis.zrange(deadLettersKey(partition), '0', '-1');
  const hashes = await Promise.all(ids.map((id) => redis.hgetall(deadLetterKeyPrefix(partition) + id)));
  return hashes.flatMap((hash, index) => {
    const letter = readLetter(asDeliveryId(ids[index] ?? ''), hash);
    return letter ? [letter] : [];
  });
}

/** @returns undefined for a letter that has expired */
function readLetter(id: DeliveryId, hash: Readonly<Record<string, string>>): DeadLetter | undefined {
  const { atMs, why, replayedMs } = hash;
  if (atMs === undefined) return undefined;
  return {
    id,
    atMs: Number(atMs),
    why: why === 'unreadable' ? 'unreadable' : 'crashed',
    messages: Object.keys(hash).filter((field) => field.startsWith('entry:')).length,
    replayedAtMs: replayedMs === undefined ? undefined : Number(replayedMs),
  };
}
