import { SECOND_MS } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import { Redis } from 'ioredis';
import { connectRedis, sentinelAccessOf, sentinelHosts, type RedisAddress } from '../../shared/redis/redis.ts';
import type { CheckResult } from '../../bot/platforms/platform.ts';
import { readRedisFacts, type RedisFacts } from '../../bot/metrics/redis-facts.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import { resultsOf } from './results-of.ts';

export interface RedisCheckOptions {
  address: RedisAddress;
  /** Whether a Redis without an append-only file is only a warning. */
  isLossAllowed: boolean;
  log: Log;
  /** Response timeout. Defaults to 5 s. Milliseconds. */
  answerLimitMs?: number;
}

const REFUSALS = /NOAUTH|WRONGPASS|NOPERM|invalid password/i;

/** Whether a Redis error is about credentials: Redis is reachable, but rejects the user or password. */
export function isRefusedByRedis(told: string): boolean {
  return REFUSALS.test(told);
}

const { ok, warning, fault } = resultsOf('Redis');
const STILL_LOADS = warning('is still loading its data', 'Run npm run check again in a minute');
const REFUSED = fault(
  'refuses the user or the password',
  'Correct REDIS_URL: redis://USER:PASSWORD@HOST:PORT; omit USER for the default user',
);

/** Checks Redis over a separate connection: reachability, version, persistence and eviction policy. */
export async function checkRedis(options: RedisCheckOptions): Promise<CheckResult[]> {
  const { address, answerLimitMs = 5 * SECOND_MS } = options;
  const { sentinelName } = address;
  if (sentinelName === undefined) return checkMaster(options);
  const asked = await Promise.all(
    sentinelHosts(address.urls).map((at) => askSentinel(at, address, sentinelName, answerLimitMs)),
  );
  const sentinels = asked.map(({ result }) => result);
  const master = asked.find(({ master: found }) => found !== undefined)?.master;
  // If no sentinel knows the master, there is nothing to connect to.
  if (master === undefined) return sentinels;
  const named = (result: CheckResult): CheckResult =>
    result.name === 'Redis' ? { ...result, detail: `the master ${master} ${result.detail}` } : result;
  return [...sentinels, ...(await checkMaster(options)).map(named)];
}

/** Queries a single sentinel for the master, so that a faulty sentinel can be named. */
async function askSentinel(
  { host, port }: { host: string; port: number },
  address: RedisAddress,
  masterName: string,
  answerLimitMs: number,
): Promise<{ result: CheckResult; master?: string }> {
  const results = resultsOf(`Redis sentinel ${host}:${port}`);
  const options = { retryStrategy: () => null, enableReadyCheck: false, maxRetriesPerRequest: null };
  const sentinel = new Redis({ ...sentinelAccessOf(address), ...options, host, port });
  let reason = '';
  sentinel.on('error', (error: Error) => (reason = error.message));
  try {
    const asking = sentinel.call('SENTINEL', 'get-master-addr-by-name', masterName);
    const found = (await withTimeout(asking, answerLimitMs)) as [string, string] | null;
    if (found) return { result: results.ok('answers'), master: found.join(':') };
    const nextStep = 'Correct REDIS_SENTINEL_NAME: the Redis command SENTINEL MASTERS lists the names';
    return { result: results.fault('does not know the master that REDIS_SENTINEL_NAME names', nextStep) };
  } catch (error) {
    const told = `${reason} ${error instanceof Error ? error.message : ''}`;
    return { result: results.fault(...sentinelFault(told)) };
  } finally {
    sentinel.disconnect();
  }
}

function sentinelFault(told: string): [detail: string, nextStep: string] {
  if (isRefusedByRedis(told))
    return [
      'refuses the user or the password',
      'Correct REDIS_URL, or set REDIS_SENTINEL_USERNAME and REDIS_SENTINEL_PASSWORD if the sentinels have different credentials from the master',
    ];
  if (/certificate|altname|self.signed|unable to (?:verify|get)/i.test(told))
    return [
      'presents a certificate that is not trusted',
      'Set NODE_EXTRA_CA_CERTS to the file with your CA certificate, and check that the certificate names the host in REDIS_URL',
    ];
  return [
    'does not answer',
    'Start it and check its host and port in REDIS_URL; if only the master or only the sentinels use TLS, set REDIS_SENTINEL_TLS',
  ];
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
    return [fault('does not answer', 'Start Redis and check the host, port, user and password in REDIS_URL')];
  } finally {
    redis.disconnect();
  }
}

function judgeVersion({ version, isVersionKnownToWork }: RedisFacts): CheckResult {
  if (isVersionKnownToWork) return ok(`answers, version ${version}`);
  return fault(`version ${version} is too old`, 'Use 6.2 or newer');
}

function judgePersistence({ hasAppendOnlyFile }: RedisFacts, isLossAllowed: boolean): CheckResult {
  const persistence = resultsOf('Redis persistence');
  if (hasAppendOnlyFile) return persistence.ok('append-only file is on');
  const detail = 'append-only file is off: restarting Redis loses messages';
  return (isLossAllowed ? persistence.warning : persistence.fault)(detail, 'Set "appendonly yes" in Redis');
}

function judgeEviction({ evictionPolicy, maxMemoryBytes }: RedisFacts): CheckResult {
  const eviction = resultsOf('Redis eviction');
  if (evictionPolicy === 'noeviction') return eviction.ok('noeviction');
  const detail = `${evictionPolicy}: Redis would delete accepted messages when its memory is full`;
  const judged = maxMemoryBytes > 0 ? eviction.fault : eviction.warning;
  return judged(detail, 'Set "maxmemory-policy noeviction" in Redis');
}
