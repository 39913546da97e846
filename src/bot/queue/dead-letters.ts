import { DAY_MS } from '../../shared/clock.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { hashParts } from '../../shared/crypto/ids.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import { ALL_PARTITIONS } from '../domain/conversation.ts';
import { asConversationId, asDeliveryId, type DeliveryId } from '../domain/ids.ts';
import { conversationKeys, deadLetterKeyPrefix, deadLettersKey, messageKey } from '../domain/partition-keys.ts';
import type { TurnClaim, TurnCommit, WaitingMessage } from '../domain/turn.ts';
import { MAX_INBOX, REMEMBER_DELIVERY_MS } from './accept.ts';
import { EntryError, INBOX_ENTRY, mergeKeyOfEntry, openEntry, sealMessage, sealTarget } from './inbox-entry.ts';
import { SWEEP_AFTER_MS } from './sweeper.ts';

/** How long the messages of a dead letter are stored. */
const DEAD_LETTER_LIFE_MS = 7 * DAY_MS;
/** Maximum listed dead letters of a partition. */
const MAX_LETTERS = 1_000;

/** Followed by the place of the message in its turn. */
const ENTRY_FIELD = 'entry:';
const replayScript = loadScript(import.meta.url, './scripts/replay.lua', {
  libraries: [INBOX_ENTRY],
  constants: { REMEMBER_MS: REMEMBER_DELIVERY_MS, MAX_INBOX },
  keys: ['letter', 'state', 'inbox', 'pending', '...records'],
  args: ['conversationId', 'touchedAgoMs', '...messages'],
  answer: ['replayed', 'unknown', 'again', 'full'],
});

/** A turn that ended without an answer because its workers crashed, or messages of it that could not be decrypted. */
export interface DeadLetter {
  /** Id of the turn; log lines use the same id as `trace`. */
  id: DeliveryId;
  atMs: number;
  why: 'crashed' | 'unreadable';
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

/** The number of dead letters since a time. */
export async function countDeadLetters(redis: RedisClient, sinceMs: number): Promise<number> {
  const counts = await Promise.all(
    ALL_PARTITIONS.map((partition) => redis.zcount(deadLettersKey(partition), sinceMs, '+inf')),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Letters that are read at once, because the page of administrators shares its connection with deliveries. */
const LETTERS_A_STEP = 50;

/** All dead letters, newest first. */
export async function readDeadLetters(redis: RedisClient): Promise<DeadLetter[]> {
  const found: DeadLetter[] = [];
  for (const partition of ALL_PARTITIONS) found.push(...(await lettersOf(redis, partition)));
  return found.sort((one, other) => other.atMs - one.atMs);
}

async function lettersOf(redis: RedisClient, partition: number): Promise<DeadLetter[]> {
  const ids = await redis.zrange(deadLettersKey(partition), '0', '-1');
  const found: DeadLetter[] = [];
  for (let from = 0; from < ids.length; from += LETTERS_A_STEP) {
    const some = ids.slice(from, from + LETTERS_A_STEP);
    const hashes = await Promise.all(some.map((id) => redis.hgetall(deadLetterKeyPrefix(partition) + id)));
    for (const [index, hash] of hashes.entries()) {
      const letter = readLetter(asDeliveryId(some[index] ?? ''), hash);
      if (letter) found.push(letter);
    }
  }
  return found;
}

/** A message that its sender deletes after its turn was given up leaves the dead letter (SECURITY.md taken-back). */
export async function withdrawFromLetter(
  redis: RedisClient,
  partition: number,
  { turnId, deliveryId }: { turnId: DeliveryId; deliveryId: DeliveryId },
): Promise<void> {
  const key = deadLetterKeyPrefix(partition) + turnId;
  const hash = await redis.hgetall(key);
  const own = Object.keys(hash).filter(
    (field) => field.startsWith(ENTRY_FIELD) && hash[field]?.startsWith(`${deliveryId}:`) === true,
  );
  if (own.length === 0) return;
  await redis.hdel(key, ...own);
  if (entriesOf(hash).length > own.length) return;
  await redis.del(key);
  await redis.zrem(deadLettersKey(partition), turnId);
}

/** @returns undefined for a letter that has expired */
function readLetter(id: DeliveryId, hash: Readonly<Record<string, string>>): DeadLetter | undefined {
  const { atMs, why, replayedMs } = hash;
  if (atMs === undefined) return undefined;
  return {
    id,
    atMs: Number(atMs),
    why: why === 'unreadable' ? 'unreadable' : 'crashed',
    messages: entriesOf(hash).length,
    replayedAtMs: replayedMs === undefined ? undefined : Number(replayedMs),
  };
}

/**
 * `unknown`: no such dead letter. `again`: it was replayed before. `full`: too many messages wait in its conversation.
 * `unreadable`: it cannot be decrypted with the present keys.
 */
export type ReplayResult = 'replayed' | 'unknown' | 'again' | 'full' | 'unreadable';

/**
 * Puts the messages of a dead letter back as one new question, behind those that wait in its conversation, with the present
 * time as their age. The sweeper wakes the conversation. Safe to repeat: the new messages have ids of their own, and a letter
 * is replayed once.
 */
export async function replayDeadLetter(
  { redis, keyRing }: { redis: RedisClient; keyRing: KeyRing },
  id: DeliveryId,
): Promise<ReplayResult> {
  const hashes = await Promise.all(
    ALL_PARTITIONS.map(async (partition) => ({
      partition,
      hash: await redis.hgetall(deadLetterKeyPrefix(partition) + id),
    })),
  );
  const found = hashes.find(({ hash }) => hash['atMs'] !== undefined);
  if (!found) return 'unknown';
  const { partition, hash } = found;
  const entries = entriesOf(hash);
  const opened = entries.map((entry) => openOrNothing(keyRing, entry));
  if (!opened.every((one) => one !== undefined)) return 'unreadable';
  const again = opened.map(({ deliveryId, acceptedAtMs, message }, index) => {
    const newId = asDeliveryId(hashParts('replay', deliveryId).slice(0, 40));
    const sealed = sealMessage(keyRing, newId, message);
    const target = sealTarget(keyRing, newId, message);
    return { newId, values: [newId, mergeKeyOfEntry(entries[index] ?? ''), sealed, acceptedAtMs, target] };
  });
  const conversation = { id: asConversationId(hash['conversation'] ?? ''), partition };
  const keys = {
    ...conversationKeys(conversation),
    letter: deadLetterKeyPrefix(partition) + id,
    records: again.map(({ newId }) => messageKey(partition, newId)),
  };
  const messages = again.flatMap(({ values }) => values);
  return replayScript.run(redis, keys, { conversationId: conversation.id, touchedAgoMs: SWEEP_AFTER_MS, messages });
}

/** In the order of the chat. */
function entriesOf(hash: Readonly<Record<string, string>>): string[] {
  const fields = Object.keys(hash).filter((field) => field.startsWith(ENTRY_FIELD));
  const placeOf = (field: string) => Number(field.slice(ENTRY_FIELD.length));
  return fields.sort((one, other) => placeOf(one) - placeOf(other)).map((field) => hash[field] ?? '');
}

function openOrNothing(keyRing: KeyRing, entry: string): WaitingMessage | undefined {
  try {
    const opened = openEntry(keyRing, entry);
    return opened.kind === 'opened' ? opened.value : undefined;
  } catch (error) {
    if (error instanceof EntryError) return undefined;
    throw error;
  }
}
