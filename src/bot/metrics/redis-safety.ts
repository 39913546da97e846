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
  /** Called once, with what is wrong and what to do, when the process must not go on. */
  onUnsafe(sentence: string): void;
  /** Pause between tries while Redis is away; 2 s unless told. Milliseconds. */
  retryMs?: number;
}

/**
 * Looks once, as soon as Redis answers, whether it keeps what it acknowledges (SECURITY.md quick-takeover, checked-at-start). The start does not
 * wait for it: a receiver may start before its Redis.
 * @returns ends the waiting
 */
export function watchRedisSafety(redis: RedisClient, options: RedisSafetyOptions): () => void {
  const { log, onUnsafe, retryMs = 2 * SECOND_MS } = options;
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  const look = async (): Promise<void> => {
    try {
      const facts = await readRedisFacts(redis);
      if (facts.isLoading) throw new Error('Redis still reads its files');
      if (!isEnded) judge(facts, options, onUnsafe);
    } catch (error) {
      if (isEnded) return;
      log.debug({ error: asError(error) }, 'Redis could not be examined yet');
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
      'Redis keeps no append-only file, so a restart would lose messages: set "appendonly yes" in its configuration.',
    );
  }
  if (!facts.hasAppendOnlyFile) log.warn('Redis keeps no append-only file: a restart of it loses messages');
  if (facts.evictionPolicy === 'noeviction') return;
  // Without a memory limit nothing is thrown away; with one, what is thrown away is accepted messages.
  if (facts.maxMemoryBytes > 0) {
    return onUnsafe(
      `Redis throws data away when it is full (maxmemory-policy ${facts.evictionPolicy}): set it to noeviction.`,
    );
  }
  log.warn({ policy: facts.evictionPolicy }, 'Redis would throw data away if a memory limit were set: use noeviction');
}
