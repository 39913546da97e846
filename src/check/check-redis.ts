import { SECOND_MS } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { connectRedis, type RedisAddress } from '../base/redis.ts';
import type { CheckResult } from '../platforms/platform.ts';
import { readRedisFacts, type RedisFacts } from '../metrics/redis-facts.ts';
import { withTimeout } from '../base/with-timeout.ts';

export interface RedisCheckOptions {
  address: RedisAddress;
  /** Whether a Redis without an append-only file is accepted; then it is a warning only. */
  isLossAllowed: boolean;
  log: Log;
  /** How long an answer is waited for; 5 s unless told. Milliseconds. */
  answerLimitMs?: number;
}

const REFUSALS = /NOAUTH|WRONGPASS|NOPERM|invalid password/i;

/** Whether what a Redis said is about who asks: it is there, and its user or password is wrong. */
export function isRefusedByRedis(told: string): boolean {
  return REFUSALS.test(told);
}

const STILL_LOADS: CheckResult = {
  ...{ name: 'Redis', verdict: 'warning', detail: 'still reads its files' },
  nextStep: 'Run this again in a minute',
};

const REFUSED: CheckResult = {
  ...{ name: 'Redis', verdict: 'fault', detail: 'refuses the user or the password' },
  nextStep: 'Correct them in REDIS_URL: redis://USER:PASSWORD@HOST:PORT, without USER for the usual one',
};

/** Looks at Redis on a connection of its own: whether it answers, its version, what it keeps, what it throws away. */
export async function checkRedis(options: RedisCheckOptions): Promise<CheckResult[]> {
  const { address, isLossAllowed, log, answerLimitMs = 5 * SECOND_MS } = options;
  const redis = connectRedis(address, 'wait', log, 'check');
  let reason = '';
  redis.on('error', (error: Error) => (reason = error.message));
  try {
    const facts = await withTimeout(readRedisFacts(redis), answerLimitMs);
    if (facts.isLoading) return [STILL_LOADS];
    return [judgeVersion(facts), judgePersistence(facts, isLossAllowed), judgeEviction(facts)];
  } catch (error) {
    if (isRefusedByRedis(`${reason} ${error instanceof Error ? error.message : ''}`)) return [REFUSED];
    const nextStep = 'Start Redis, and see that REDIS_URL names its host, port, user and password';
    return [{ name: 'Redis', verdict: 'fault', detail: 'does not answer', nextStep }];
  } finally {
    redis.disconnect();
  }
}

function judgeVersion({ version, isVersionKnownToWork }: RedisFacts): CheckResult {
  if (isVersionKnownToWork) return { name: 'Redis', verdict: 'ok', detail: `answers, version ${version}` };
  return { name: 'Redis', verdict: 'fault', detail: `version ${version} is too old`, nextStep: 'Use 6.2 or newer' };
}

function judgePersistence({ hasAppendOnlyFile }: RedisFacts, isLossAllowed: boolean): CheckResult {
  const name = 'Redis persistence';
  if (hasAppendOnlyFile) return { name, verdict: 'ok', detail: 'append-only file is on' };
  const detail = 'append-only file is off: a restart of Redis loses messages';
  return { name, verdict: isLossAllowed ? 'warning' : 'fault', detail, nextStep: 'Set "appendonly yes"' };
}

function judgeEviction({ evictionPolicy, maxMemoryBytes }: RedisFacts): CheckResult {
  const name = 'Redis eviction';
  if (evictionPolicy === 'noeviction') return { name, verdict: 'ok', detail: 'noeviction' };
  const verdict = maxMemoryBytes > 0 ? 'fault' : 'warning';
  const detail = `${evictionPolicy}: a full Redis would throw accepted messages away`;
  return { name, verdict, detail, nextStep: 'Set "maxmemory-policy noeviction"' };
}
