import { randomToken } from '../base/ids.ts';
import { SECOND_MS } from '../base/clock.ts';
import type { RedisClient } from '../base/redis.ts';

const KEY = '{suspect}:lease';
/** Longer than a dead worker stays unnoticed (lock 10 s, scan 5 s), so that a crash ends the lease before the turn comes again. */
const LEASE_MS = 12 * SECOND_MS;
const RENEW_EVERY_MS = 4 * SECOND_MS;

const RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
const RENEW =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";

/**
 * Lets one suspect at a time run in the whole deployment: a turn during which workers died more than once. So the turn
 * that kills is told from those that merely ran beside it (design: poison).
 * @returns a function that gives the lease back, or undefined while another suspect runs
 */
export async function takeSuspectLease(redis: RedisClient): Promise<(() => Promise<void>) | undefined> {
  const owner = randomToken(16);
  if ((await redis.set(KEY, owner, 'PX', LEASE_MS, 'NX')) === null) return undefined;
  const timer = setInterval(
    () => void redis.eval(RENEW, 1, KEY, owner, LEASE_MS).catch(() => undefined),
    RENEW_EVERY_MS,
  );
  return async () => {
    clearInterval(timer);
    await redis.eval(RELEASE, 1, KEY, owner);
  };
}
