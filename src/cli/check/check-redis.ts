import { SECOND_MS } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import { Redis } from 'ioredis';
import { connectRedis, sentinelAccessOf, sentinelHosts, type RedisAddress } from '../../shared/redis/redis.ts';
import type { CheckResult } from '../../bot/platforms/platform.ts';
import { readRedisFacts, type RedisFacts } from '../../bot/metrics/redis-facts.ts';
import { withTimeout } from '../../shared/with-timeout.ts';

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
  const { address, answerLimitMs = 5 * SECOND_MS } = options;
  const { sentinelName } = address;
  if (sentinelName === undefined) return checkMaster(options);
  const asked = await Promise.all(
    sentinelHosts(address.urls).map((at) => askSentinel(at, address, sentinelName, answerLimitMs)),
  );
  const sentinels = asked.map(({ result }) => result);
  const master = asked.find(({ master: found }) => found !== undefined)?.master;
  // Without a sentinel that names the master there is nothing to be asked.
  if (master === undefined) return sentinels;
  const named = (result: CheckResult): CheckResult =>
    result.name === 'Redis' ? { ...result, detail: `the master ${master} ${result.detail}` } : result;
  return [...sentinels, ...(await checkMaster(options)).map(named)];
}

/** Asks one sentinel alone where the master is, so that the one that refuses can be named. */
async function askSentinel(
  { host, port }: { host: string; port: number },
  address: RedisAddress,
  masterName: string,
  answerLimitMs: number,
): Promise<{ result: CheckResult; master?: string }> {
  const name = `Redis sentinel ${host}:${port}`;
  const options = { retryStrategy: () => null, enableReadyCheck: false, maxRetriesPerRequest: null };
  const sentinel = new Redis({ ...sentinelAccessOf(address), ...options, host, port });
  let reason = '';
  sentinel.on('error', (error: Error) => (reason = error.message));
  try {
    const asking = sentinel.call('SENTINEL', 'get-master-addr-by-name', masterName);
    const found = (await withTimeout(asking, answerLimitMs)) as [string, string] | null;
    if (found) return { result: { name, verdict: 'ok', detail: 'answers' }, master: found.join(':') };
    const nextStep = 'Correct REDIS_SENTINEL_NAME: SENTINEL MASTERS lists the names';
    return {
      result: { name, verdict: 'fault', detail: 'does not know the master REDIS_SENTINEL_NAME names', nextStep },
    };
  } catch (error) {
    const told = `${reason} ${error instanceof Error ? error.message : ''}`;
    return { result: { name, verdict: 'fault', ...sentinelFault(told) } };
  } finally {
    sentinel.disconnect();
  }
}

function sentinelFault(told: string): { detail: string; nextStep: string } {
  if (isRefusedByRedis(told))
    return {
      detail: 'refuses the user or the password',
      nextStep:
        'Correct them in REDIS_URL, or set REDIS_SENTINEL_USERNAME and REDIS_SENTINEL_PASSWORD where the sentinels have others than the master',
    };
  if (/certificate|altname|self.signed|unable to (?:verify|get)/i.test(told))
    return {
      detail: 'shows a certificate that is not trusted',
      nextStep: 'Name your authority in NODE_EXTRA_CA_CERTS, and see that the certificate holds the host of REDIS_URL',
    };
  return {
    detail: 'does not answer',
    nextStep:
      'Start it, and see its host and port in REDIS_URL; where only the master or only the sentinels speak TLS, set REDIS_SENTINEL_TLS',
  };
}

async function checkMaster(options: RedisCheckOptions): Promise<CheckResult[]> {
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
