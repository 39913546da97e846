import { Cluster } from 'ioredis';
import { monotonicMs, SECOND_MS } from '../../shared/clock.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { settledWithin } from '../../shared/settled-within.ts';
import { ALL_PARTITIONS } from '../domain/conversation.ts';
import { pendingKey } from '../domain/partition-keys.ts';
import { INBOX_ENTRY } from './inbox-entry.ts';
import { CLAIM_LIFE_MS } from './turn-store.ts';

const countScript = loadScript(import.meta.url, './scripts/count-waiting.lua', {
  libraries: [INBOX_ENTRY],
  constants: { CLAIM_LIFE_MS },
  keys: ['...pendings'],
  answer: { waiting: 'number', longestMs: 'number', running: 'number' },
});

/** Partitions per call where one Redis holds all: a few calls, of which none blocks Redis for long. */
const PARTITIONS_PER_CALL = 16;
const MAX_READ_MS = SECOND_MS;
/** A reading is reused for this long, so that frequent requests do not load Redis. */
const HOLDS_MS = SECOND_MS;

/** Messages of the whole deployment that wait for an answer. */
export interface WaitingQuestions {
  waiting: number;
  /** How long the oldest waits. */
  longestMs: number;
  /** Turns with a live claim. */
  running: number;
}

/**
 * Creates a function that counts the waiting messages when it is called, with four calls (on a cluster one per partition).
 * It returns undefined if a partition cannot be reached within a second, and never rejects.
 */
export function createCountWaiting(redis: RedisClient): () => Promise<WaitingQuestions | undefined> {
  const perCall = redis instanceof Cluster ? 1 : PARTITIONS_PER_CALL;
  const pendings = ALL_PARTITIONS.map(pendingKey);
  const groups = Array.from({ length: pendings.length / perCall }, (_, at) =>
    pendings.slice(at * perCall, (at + 1) * perCall),
  );
  let reading: Promise<WaitingQuestions | undefined> | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  // Calls to a Redis that is down may hang. They are not repeated before they end.
  let running = 0;
  const read = async (): Promise<WaitingQuestions | undefined> => {
    if (running > 0) return undefined;
    running = groups.length;
    const counting = groups.map((group) =>
      countScript.run(redis, { pendings: group }, {}).finally(() => (running -= 1)),
    );
    const counts = await settledWithin(counting, MAX_READ_MS);
    if (counts.length < groups.length) return undefined;
    return {
      waiting: counts.reduce((sum, { waiting }) => sum + waiting, 0),
      longestMs: Math.max(...counts.map(({ longestMs }) => longestMs)),
      running: counts.reduce((sum, { running }) => sum + running, 0),
    };
  };
  return () => {
    const nowMs = monotonicMs();
    if (reading === undefined || nowMs - readAtMs >= HOLDS_MS) {
      readAtMs = nowMs;
      reading = read();
    }
    return reading;
  };
}
