import { formerNamesOf, PAUSES_CHANNEL, PAUSES_KEY, type Pause, type PauseTarget } from '../../domain/pause.ts';
import { asObject, parseJson } from '../../../shared/parse-json.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';

/** Begins a pause, or replaces its message. It lasts until an administrator ends it. */
export async function beginPause(redis: RedisClient, { target, message, sinceMs }: Pause): Promise<void> {
  await redis.hset(PAUSES_KEY, target, JSON.stringify({ message, sinceMs }));
  await redis.publish(PAUSES_CHANNEL, target);
}

/** @returns whether it was paused */
export async function endPause(redis: RedisClient, target: PauseTarget): Promise<boolean> {
  const wasPaused = (await redis.hdel(PAUSES_KEY, target, ...formerNamesOf(target))) > 0;
  await redis.publish(PAUSES_CHANNEL, target);
  return wasPaused;
}

/** All pauses, the oldest first. */
export async function readPauses(redis: RedisClient): Promise<Pause[]> {
  const stored = await redis.hgetall(PAUSES_KEY);
  const pauses = Object.entries(stored).map(([target, value]): Pause => {
    const { message, sinceMs } = asObject(parseJson(value)) ?? {};
    return {
      target: target as PauseTarget,
      message: typeof message === 'string' && message !== '' ? message : undefined,
      sinceMs: Number(sinceMs) || 0,
    };
  });
  return pauses.toSorted((one, other) => one.sinceMs - other.sinceMs);
}
