import { setTimeout as pause } from 'node:timers/promises';
import { asError } from './coded-error.ts';
import { SECOND_MS } from './clock.ts';
import type { Log } from './log.ts';
import type { RedisClient } from './redis.ts';

/**
 * What Redis answers to any write while it is full, cannot write its files, lacks its replicas, is a replica itself or
 * still loads, or while our user lacks a right. Within a script some of them are told in other words.
 */
const REFUSAL =
  /^(?:OOM|MISCONF|NOREPLICAS|READONLY|NOPERM|LOADING|MASTERDOWN|CLUSTERDOWN|BUSY)\b|used memory > 'maxmemory'|can't run this command/;
const LONGEST_PAUSE_MS = SECOND_MS;

interface Refusals {
  log: Log;
  name: string;
  isTold: boolean;
}

/** Connections whose scripts wait for Redis to take writes again. */
const patient = new WeakMap<RedisClient, Refusals>();

/** From now on scripts over this connection are kept while Redis refuses writes, as commands are while it is away. */
export function waitOutRefusals(redis: RedisClient, log: Log, name: string): void {
  patient.set(redis, { log, name, isTold: false });
}

/**
 * Sends a script, and over a patient connection once more for as long as Redis refuses writes: an answer that is whole is
 * worth more than the slot that waits with it. Safe since every script of ours may be repeated.
 * @throws what else it comes to; over other connections a refusal too
 */
export function sendUntilTaken<Result>(redis: RedisClient, send: () => Promise<Result>): Promise<Result> {
  const refusals = patient.get(redis);
  return refusals ? sendPatiently(redis, refusals, send) : send();
}

async function sendPatiently<Result>(
  redis: RedisClient,
  refusals: Refusals,
  send: () => Promise<Result>,
): Promise<Result> {
  for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      const result = await send();
      if (refusals.isTold) tell(refusals, false);
      return result;
    } catch (thrown) {
      if (!isRefusal(thrown) || redis.status === 'end') throw thrown;
      if (!refusals.isTold) tell(refusals, true, asError(thrown));
      await pause(pauseMs, undefined, { ref: false });
    }
  }
}

function isRefusal(thrown: unknown): boolean {
  return thrown instanceof Error && REFUSAL.test(thrown.message);
}

function tell(refusals: Refusals, isRefusing: boolean, error?: Error): void {
  refusals.isTold = isRefusing;
  const { log, name: connection } = refusals;
  if (isRefusing) log.warn({ error, connection }, 'redis refuses writes; what is to be written waits for it');
  else log.info({ connection }, 'redis takes writes again');
}
