import { Redis } from 'ioredis';
import { inBackground } from '../../shared/in-background.ts';
import { HOUR_MS, SECOND_MS } from '../../shared/clock.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { settledWithin } from '../../shared/settled-within.ts';
import { subscribe } from '../../shared/redis/subscriber.ts';
import { processRecord, WORKER_RECORD_PREFIX, WORKERS_KEY, type Workload } from './process-list.ts';
import { SILENT_MS } from './turn-lease.ts';

const CHANNEL_PREFIX = 'parley:worker:';
const CHECK_EVERY_MS = SECOND_MS / 2;
/** A worker without a subscription is dead if it does not register between two checks. */
const GONE_MS = 0.4 * SECOND_MS;
/** The same after connections were lost. Longer than the maximum pause between two reconnects (`shared/redis/redis.ts`). */
const RECONNECTED_MS = 3 * SECOND_MS;
/**
 * A worker that has not registered for this long when its subscription ends was stalled. A stalled connection that is closed
 * is replaced at once, so that a second check finds the worker alive.
 */
const STALLED_MS = SECOND_MS;
/** For this long after Redis has started, or this worker has subscribed again, others may still be without a connection. */
const SETTLE_MS = 5 * SECOND_MS;
/** What one check adds at most to the silence of a worker: a stall of Redis, or of this worker, says nothing about others. */
const MAX_STEP_MS = SECOND_MS;
/** After this time any worker may retry a failed reclaim. */
const RECLAIM_LOCK_MS = 2 * SECOND_MS;
/** Maximum time that a stop waits for its name to be removed. */
const LEAVE_LIMIT_MS = SECOND_MS / 4;

const presenceScript = loadScript(import.meta.url, './scripts/note-presence.lua', {
  keys: ['workers', 'record'],
  args: ['name', 'channelPrefix', 'forgetMs', 'about'],
  answer: { isHeard: 'flag', upForMs: 'number', names: 'texts', registeredMs: 'numbers', subscribers: 'numbers' },
});

export interface WorkerPresenceOptions {
  redis: RedisClient;
  /** Prefix of this worker's claims. */
  workerName: string;
  /** Read for each registration, for `admin workers`. */
  workload(): Workload;
  /** A monotonic clock. */
  nowMs(): number;
  /** Takes over a worker's claims. @param absence `silent`: the worker may be alive, so that claims renewed recently are kept */
  reclaim(worker: string, absence: 'dead' | 'silent'): Promise<unknown>;
}

/** Last registration of a worker by the Redis clock, and how long it has been the last. */
interface Registration {
  registeredMs: number | undefined;
  silentMs: number;
  /** Time since the first check that found no subscription; undefined while it has one. */
  unheardMs: number | undefined;
}

function isDead({ silentMs, unheardMs }: Pick<Registration, 'silentMs' | 'unheardMs'>, goneMs: number): boolean {
  if (unheardMs === undefined || silentMs < goneMs) return false;
  return silentMs - unheardMs < STALLED_MS || unheardMs >= GONE_MS;
}

/**
 * Detects workers that are dead or silent (SECURITY.md quick-takeover). Each worker registers twice a second, and subscribes
 * to a channel with its name. A worker is dead if its subscription has ended and it does not register: within a second. A
 * worker is silent if it does not register for six seconds: a frozen process, which keeps its subscription, or any worker on
 * Redis Cluster, where a node counts only its own subscribers. In both cases its turns are taken over, and the fence refuses
 * its later writes.
 *
 * Silence is measured on this worker's clock, between an answer of Redis and the next check, and each check adds at most a
 * second. Neither a stalled Redis nor a changed clock makes a worker silent.
 */
export function keepWorkerPresence(options: WorkerPresenceOptions): () => Promise<void> {
  const { redis, workerName, nowMs, reclaim, workload } = options;
  const keys = { workers: WORKERS_KEY, record: WORKER_RECORD_PREFIX + workerName };
  const channelPrefix = redis instanceof Redis ? CHANNEL_PREFIX : '';
  let settledAtMs = Number.NEGATIVE_INFINITY;
  let subscriptions = 0;
  const onReady = () => {
    subscriptions += 1;
    if (subscriptions > 1) settledAtMs = nowMs() + SETTLE_MS;
  };
  const unsubscribe =
    channelPrefix === ''
      ? () => undefined
      : subscribe(redis, { channel: channelPrefix + workerName, onMessage: () => undefined, onReady });
  let seen = new Map<string, Registration>();
  let answeredAtMs = Number.POSITIVE_INFINITY;
  let isChecking = false;

  async function check(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    try {
      const stepMs = Math.min(MAX_STEP_MS, Math.max(0, nowMs() - answeredAtMs));
      const about = processRecord(workload());
      const args = { name: workerName, channelPrefix, forgetMs: HOUR_MS, about };
      const answer = await presenceScript.run(redis, keys, args);
      answeredAtMs = nowMs();
      const { isHeard, upForMs, names } = answer;
      const isSettled = upForMs >= SETTLE_MS && answeredAtMs >= settledAtMs;
      const goneMs = isSettled ? GONE_MS : RECONNECTED_MS;
      const now = new Map<string, Registration>();
      for (const [index, name] of names.entries()) {
        const registeredMs = answer.registeredMs[index];
        const before = seen.get(name);
        const kept = before?.registeredMs === registeredMs ? before : undefined;
        const silentMs = kept ? kept.silentMs + stepMs : 0;
        const isGone = isHeard && answer.subscribers[index] === 0;
        const unheardMs = isGone && kept?.unheardMs !== undefined ? kept.unheardMs + stepMs : isGone ? 0 : undefined;
        now.set(name, { registeredMs, silentMs, unheardMs });
        if (isDead({ silentMs, unheardMs }, goneMs)) inBackground(() => takeOver(name, 'dead'));
        else if (silentMs >= SILENT_MS) inBackground(() => takeOver(name, 'silent'));
      }
      seen = now;
    } finally {
      isChecking = false;
    }
  }

  async function takeOver(name: string, absence: 'dead' | 'silent'): Promise<void> {
    const lock = `{isolation}:reclaim:${name}`;
    if ((await redis.set(lock, workerName, 'PX', RECLAIM_LOCK_MS, 'NX')) === null) return;
    await reclaim(name, absence);
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
