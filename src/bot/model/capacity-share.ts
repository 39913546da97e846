import { createHash, randomUUID } from 'node:crypto';
import { MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { subscribe } from '../../shared/redis/subscriber.ts';

const CHANNEL = 'parley:engine-capacity';
/**
 * Interval at which a worker with permits or waiting questions renews them. What a dead worker held or waited for keeps others
 * waiting until its lease ends, three intervals later.
 */
export const RENEW_MS = SECOND_MS;

export const shareScript = loadScript(import.meta.url, './scripts/share-capacity.lua', {
  constants: {
    LEASE_MS: 3 * RENEW_MS,
    FORGET_MS: 10 * MINUTE_MS,
    MAX_PAUSE_MS: 4 * MINUTE_MS,
    /** A longer Retry-After is probed by one call after this time; the interval doubles with each further probe. */
    FIRST_PROBE_MS: 5 * SECOND_MS,
    FIRST_BACKOFF_MS: SECOND_MS,
    MAX_BACKOFF_MS: 15 * SECOND_MS,
    /** Accepted calls for each refusal that keeps the limit, and the maximum number of such refusals in a row. */
    RARE_AFTER: 10,
    MAX_RARE: 2,
    /** After many refusals the limit waits for this multiple of the last pause, or this time. A refused rise pauses no other call. */
    GROW_AFTER: 2,
    GROW_LATEST_MS: 5 * SECOND_MS,
    GROW_EVERY_MS: SECOND_MS,
    MAX_STEP: 64,
    RAMP_MS: 2 * SECOND_MS,
    RAMP_STEP_MS: SECOND_MS / 4,
  },
  keys: ['engine'],
  args: ['process', 'seq', 'held', 'running', 'top', 'waiting', 'waitedMs', 'passed', 'refused', 'pauseMs', 'channel'],
  answer: { granted: 'number', limit: 'number', againInMs: 'number' },
});

/** One worker's report of its calls to one engine. */
export interface CapacityReport {
  /** Permits in use. */
  held: number;
  /** Calls that the engine has accepted and that have not ended. */
  running: number;
  /** Maximum concurrent calls since the last report. */
  top: number;
  waiting: number;
  /** Waiting time of the oldest waiting question. */
  waitedMs: number;
  /** Calls accepted and refused since the last report. */
  passed: number;
  refused: number;
  /** Longest wait requested by a refusal. */
  pauseMs: number;
}

export interface CapacityGrant {
  granted: number;
  /** Learned limit; 0 for none. */
  limit: number;
  /** Time until the next report; 0 means the next renewal. */
  againInMs: number;
}

/** Shares the concurrency of an engine among the workers of a deployment. */
export interface CapacityShare {
  /** Reports and requests permits in one step. Rejects while the store is unavailable. */
  report(engine: string, report: CapacityReport): Promise<CapacityGrant>;
  /** @param listener called with the engine when its limit changes or a place becomes free */
  onNews(listener: (engine: string) => void): void;
  close(): void;
}

/** A name for the engine that does not reveal its address. */
export function engineName(baseUrl: string, model: string): string {
  const hash = createHash('sha256').update(`${baseUrl}\n${model}`).digest('base64url');
  return `{engine}:capacity:${hash.slice(0, 16)}`;
}

/** Shares through Redis, with one script call per report. */
export function shareThroughRedis(redis: RedisClient): CapacityShare {
  const process = randomUUID();
  let seq = 0;
  const listeners = new Set<(engine: string) => void>();
  const endHearing = subscribe(redis, {
    channel: CHANNEL,
    onMessage: (text) => {
      const [engine = '', from] = text.split(' ');
      if (from === process) return;
      for (const listener of listeners) listener(engine);
    },
  });
  return {
    report(engine, report) {
      seq += 1;
      const waitedMs = Math.round(report.waitedMs);
      return shareScript.run(redis, { engine }, { process, seq, channel: CHANNEL, ...report, waitedMs });
    },
    onNews: (listener) => void listeners.add(listener),
    close: endHearing,
  };
}
