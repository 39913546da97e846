import { createHash, randomUUID } from 'node:crypto';
import { MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { subscribe } from '../../shared/redis/subscriber.ts';

const CHANNEL = 'parley:engine-capacity';
/** A worker renews its permits this often while it holds any. */
export const RENEW_MS = 5 * SECOND_MS;

export const shareScript = loadScript(import.meta.url, './scripts/share-capacity.lua', {
  constants: {
    LEASE_MS: 3 * RENEW_MS,
    FORGET_MS: 10 * MINUTE_MS,
    MAX_PAUSE_MS: 4 * MINUTE_MS,
    /** A longer Retry-After is tested by one call after this long, then after twice as long each time. */
    FIRST_PROBE_MS: 10 * SECOND_MS,
    FIRST_BACKOFF_MS: SECOND_MS,
    MAX_BACKOFF_MS: 15 * SECOND_MS,
    /** The limit is not raised for this many times the last pause, so that pauses stay a small share of the time. */
    GROW_AFTER: 10,
    RAMP_MS: 2 * SECOND_MS,
    RAMP_STEP_MS: SECOND_MS / 4,
  },
  keys: ['engine'],
  args: ['process', 'seq', 'held', 'running', 'top', 'waiting', 'waitedMs', 'passed', 'refused', 'pauseMs', 'channel'],
  answer: { granted: 'number', limit: 'number', againInMs: 'number' },
});

/** What one worker reports of its calls to one engine. */
export interface CapacityReport {
  /** Permits in use. */
  held: number;
  /** Calls that the engine has accepted and not ended. */
  running: number;
  /** The most that ran at once since the last report. */
  top: number;
  waiting: number;
  /** How long the oldest waiting question has waited. */
  waitedMs: number;
  /** Calls that were accepted and refused since the last report. */
  passed: number;
  refused: number;
  /** The longest wait that a refusal asked for. */
  pauseMs: number;
}

export interface CapacityGrant {
  granted: number;
  /** The limit that was learned; 0 for none. */
  limit: number;
  /** When to report again; 0 for no earlier than the next renewal. */
  againInMs: number;
}

/** How the workers of a deployment share the concurrency of an engine. */
export interface CapacityShare {
  /** Reports and asks for permits in one step. Rejects while the store is away. */
  report(engine: string, report: CapacityReport): Promise<CapacityGrant>;
  /** @param listener is told the engine with a new limit or a free place */
  onNews(listener: (engine: string) => void): void;
  close(): void;
}

/** The name of an engine that says nothing of its address. */
export function engineName(baseUrl: string, model: string): string {
  const hash = createHash('sha256').update(`${baseUrl}\n${model}`).digest('base64url');
  return `{engine}:capacity:${hash.slice(0, 16)}`;
}

/** Shares through Redis, by one script per report. */
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
