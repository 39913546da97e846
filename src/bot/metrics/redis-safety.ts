import { inBackground } from '../../shared/in-background.ts';
import { SECOND_MS } from '../../shared/clock.ts';
import { asError } from '../../shared/coded-error.ts';
import type { Log } from '../../shared/log.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { readRedisFacts, type RedisFacts } from './redis-facts.ts';

export interface RedisSafetyOptions {
  /** Whether a Redis without an append-only file is accepted. */
  isLossAllowed: boolean;
  log: Log;
  /** Called once, with the problem and its solution, when the process must not continue. */
  onUnsafe(sentence: string): void;
  /** Milliseconds between attempts while Redis is unavailable. Defaults to 2 s. */
  retryMs?: number;
}

/**
 * Checks once, as soon as Redis answers, whether it keeps what it acknowledges (SECURITY.md quick-takeover,
 * checked-at-start). The start does not wait for it: a receiver may start before its Redis.
 * @returns a function that stops waiting
 */
export function watchRedisSafety(redis: RedisClient, options: RedisSafetyOptions): () => void {
  const { log, onUnsafe, retryMs = 2 * SECOND_MS } = options;
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  const look = async (): Promise<void> => {
    try {
      const facts = await readRedisFacts(redis);
      if (facts.isLoading) throw new Error('Redis is still loading its data');
      if (!isEnded) judge(facts, options, onUnsafe);
    } catch (error) {
      if (isEnded) return;
      log.debug({ error: asError(error) }, 'Redis has not been checked yet');
      timer = setTimeout(() => inBackground(look), retryMs).unref();
    }
  };
  inBackground(look);
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}

function judge(
  facts: RedisFacts,
  { isLossAllowed, log }: RedisSafetyOptions,
  onUnsafe: (sentence: string) => void,
): void {
  if (!facts.isVersionKnownToWork) return onUnsafe(`Redis ${facts.version} is too old for Parley: use 6.2 or newer.`);
  if (!facts.hasAppendOnlyFile && !isLossAllowed) {
    return onUnsafe(
      'Redis has no append-only file, so a restart would lose messages: set "appendonly yes" in its configuration.',
    );
  }
  if (!facts.hasAppendOnlyFile) log.warn('Redis has no append-only file: restarting it loses messages');
  if (facts.evictionPolicy === 'noeviction') return;
  // Without a memory limit nothing is evicted. With one, accepted messages are.
  if (facts.maxMemoryBytes > 0) {
    return onUnsafe(
      `Redis may evict accepted messages (maxmemory-policy ${facts.evictionPolicy}): set it to noeviction.`,
    );
  }
  log.warn(
    { policy: facts.evictionPolicy },
    'Redis would evict data if a memory limit were set: set maxmemory-policy noeviction',
  );
}
