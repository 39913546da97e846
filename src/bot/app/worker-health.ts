import type { HealthPart } from '../metrics/health.ts';
import { SECOND_MS } from '../../shared/clock.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { WorkerPart } from './worker.ts';
import type { Platform } from '../platforms/platform.ts';

/** Written by the readiness probe: a Redis that answers but refuses writes (full, read-only) cannot store messages. */
const PROBE_KEY = '{ready}:probe';

/** Health of a worker, for `/readyz`. */
export function healthOfWorker({ redis, worker, canary, platforms }: WorkerPart): HealthPart[] {
  return [
    healthOfRedis('worker-redis', redis),
    {
      name: 'worker',
      isReady: async () => worker.isReady() && isProven(canary),
      remark: () => (isProven(canary) ? undefined : CANARY_REMARK),
    },
    ...[...platforms.values()].filter(({ access }) => access !== undefined).map(healthOfPlatform),
    { name: 'keys', isReady: async () => true, remark: () => worker.missingKeys.sentence() },
  ];
}

const CANARY_REMARK =
  'not ready: no canary question was answered recently, so accepted questions may wait. Check Redis and the logs of all workers';

function isProven(canary: WorkerPart['canary']): boolean {
  return canary?.isHealthy() !== false;
}

export function healthOfRedis(name: string, redis: RedisClient): HealthPart {
  return { name, isReady: async () => (await redis.set(PROBE_KEY, '1', 'PX', SECOND_MS), true) };
}

/** Ready whatever the platform answers: a process that accepts no messages while a token is being fixed would lose them. */
function healthOfPlatform({ name, access }: Platform): HealthPart {
  const remark = () =>
    access?.fault &&
    `refuses all calls (${access.fault}): correct the token, the secret or the permissions of the app; answers are stored until then`;
  return { name, isReady: async () => true, remark };
}
