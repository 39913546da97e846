import { Redis } from 'ioredis';
import { inBackground } from '../../shared/in-background.ts';
import { HOUR_MS, SECOND_MS } from '../../shared/clock.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { settledWithin } from '../../shared/settled-within.ts';
import { subscribe } from '../../shared/redis/subscriber.ts';

const CHANNEL_PREFIX = 'parley:worker:';
const WORKERS_KEY = '{isolation}:workers';
const CHECK_EVERY_MS = SECOND_MS / 2;
/** After this worker's own subscription was lost, or Redis has started, the subscriptions of others may need this long. */
const SETTLE_MS = 5 * SECOND_MS;
/** After this time any worker may retry a failed reclaim. */
const RECLAIM_LOCK_MS = 5 * SECOND_MS;
/** Maximum time that a stop waits for its name to be removed. */
const LEAVE_LIMIT_MS = SECOND_MS / 4;

const absentScript = loadScript(import.meta.url, './scripts/find-absent-workers.lua', {
  keys: ['workers'],
  args: ['name', 'channelPrefix', 'forgetMs'],
  answer: { isHeard: 'flag', absent: 'texts', upForMs: 'number' },
});

export interface WorkerPresenceOptions {
  redis: RedisClient;
  /** Prefix of this worker's claims. */
  workerName: string;
  nowMs(): number;
  /** Takes over a dead worker's claims. */
  reclaim(worker: string): Promise<unknown>;
}

/**
 * Detects the death of other workers within about a second (SECURITY.md quick-takeover). Each worker subscribes to a channel
 * with its name. A worker whose subscription is missing in two checks is dead or cut off from Redis; in both cases its turns
 * are taken over, and the fence refuses its later writes. A frozen process keeps its subscription, but its leases expire. On
 * Redis Cluster a node counts only its own subscribers, so that only leases decide there.
 * @returns a function that ends the registration
 */
export function keepWorkerPresence({ redis, workerName, nowMs, reclaim }: WorkerPresenceOptions): () => Promise<void> {
  if (!(redis instanceof Redis)) return async () => undefined;
  const unsubscribe = subscribe(redis, { channel: CHANNEL_PREFIX + workerName, onMessage: () => undefined });
  let missing = new Set<string>();
  let hasBeenHeard = false;
  let settledAtMs = Number.NEGATIVE_INFINITY;
  let isChecking = false;

  async function check(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    try {
      const args = { name: workerName, channelPrefix: CHANNEL_PREFIX, forgetMs: HOUR_MS };
      const { isHeard, absent, upForMs } = await absentScript.run(redis, { workers: WORKERS_KEY }, args);
      if (upForMs < SETTLE_MS || (hasBeenHeard && !isHeard)) settledAtMs = nowMs() + SETTLE_MS;
      hasBeenHeard ||= isHeard;
      const isSettled = isHeard && nowMs() >= settledAtMs;
      const dead = isSettled ? absent.filter((name) => missing.has(name)) : [];
      missing = new Set(isSettled ? absent : []);
      for (const name of dead) await takeOver(name);
    } finally {
      isChecking = false;
    }
  }

  async function takeOver(name: string): Promise<void> {
    const lock = `{isolation}:reclaim:${name}`;
    if ((await redis.set(lock, workerName, 'PX', RECLAIM_LOCK_MS, 'NX')) === null) return;
    await reclaim(name);
    await redis.zrem(WORKERS_KEY, name);
  }

  const timer = setInterval(() => inBackground(check), CHECK_EVERY_MS);
  inBackground(check);
  return async () => {
    clearInterval(timer);
    // While Redis is unavailable the command would wait. A name that stays is harmless: the others find no turns of it.
    await settledWithin([redis.zrem(WORKERS_KEY, workerName)], LEAVE_LIMIT_MS);
    unsubscribe();
  };
}
