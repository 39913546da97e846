import { SECOND_MS } from '../../shared/clock.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';

/** A process that stops renewing its lease is replaced after this time. */
const LEASE_MS = 20 * SECOND_MS;
const LEASE_KEY = '{audit}:lease';
const WANTED_KEY = '{audit}:lease-wanted';
const POSITIONS_KEY = '{audit}:positions';

const takeScript = loadScript(import.meta.url, './scripts/take-lease.lua', {
  keys: ['lease', 'epochs', 'wanted'],
  args: ['name', 'lifeMs', 'isUrgent'],
  answer: 'number',
});
const endScript = loadScript(import.meta.url, './scripts/end-lease.lua', { keys: ['lease', 'wanted'], args: ['name'] });
const saveScript = loadScript(import.meta.url, './scripts/save-position.lua', {
  keys: ['lease', 'positions'],
  args: ['epoch', '...fields'],
  answer: 'flag',
});

/**
 * The right to change the moved part of the audit record: the files, the names of people and the positions. One process has it
 * at a time (SECURITY.md audit-record): the one that moves entries, or an erasure.
 * @param isUrgent asks a holder to give way at its next renewal
 * @returns the number of the lease, which grows with each; undefined if another process has it
 */
export async function takeLease(redis: RedisClient, name: string, isUrgent = false): Promise<number | undefined> {
  const keys = { lease: LEASE_KEY, epochs: '{audit}:epochs', wanted: WANTED_KEY };
  const epoch = await takeScript.run(redis, keys, { name, lifeMs: LEASE_MS, isUrgent });
  return epoch === 0 ? undefined : epoch;
}

export async function endLease(redis: RedisClient, name: string): Promise<void> {
  await endScript.run(redis, { lease: LEASE_KEY, wanted: WANTED_KEY }, { name });
}

/** @returns false if the lease has ended; nothing was saved then */
export async function savePositions(
  redis: RedisClient,
  epoch: number,
  fields: Readonly<Record<string, string>>,
): Promise<boolean> {
  const list = Object.entries(fields).flat();
  return saveScript.run(redis, { lease: LEASE_KEY, positions: POSITIONS_KEY }, { epoch, fields: list });
}

export async function readPositions(redis: RedisClient): Promise<Readonly<Record<string, string>>> {
  return redis.hgetall(POSITIONS_KEY);
}
