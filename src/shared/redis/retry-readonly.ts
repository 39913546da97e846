import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster, Redis } from 'ioredis';
import { asError } from '../coded-error.ts';
import { SECOND_MS } from '../clock.ts';
import type { Log } from '../log.ts';

/** Codes of temporary refusals: the same script succeeds later. */
const PASSING_CODES: ReadonlySet<string> = new Set([
  // Redis is out of memory, cannot write its files, has too few replicas, or is a replica itself.
  ...['OOM', 'MISCONF', 'NOREPLICAS', 'READONLY'],
  // The user lacks a permission until the operator grants it.
  'NOPERM',
  // Redis is loading its files, has lost its master, or is running a long script.
  ...['LOADING', 'MASTERDOWN', 'BUSY', 'UNKILLABLE'],
  // A slot is unassigned, partly migrated, or owned by the node that refers to another one.
  ...['CLUSTERDOWN', 'TRYAGAIN', 'MOVED', 'ASK'],
  // The node has lost the script, or never stored it because it redirected the call.
  'NOSCRIPT',
]);
/** Messages that some versions use for refusals within a script. */
const PASSING_WORDS = /used memory > 'maxmemory'|can't run this command/;
const MAX_PAUSE_MS = SECOND_MS;

interface Refusals {
  log: Log;
  name: string;
  isNotified: boolean;
}

/** Connections whose scripts wait until Redis accepts writes. */
const patient = new WeakMap<Redis | Cluster, Refusals>();

/**
 * From now on, scripts over this connection are retried while Redis refuses writes, like commands while Redis is
 * unavailable.
 */
export function retryRefusedWrites(redis: Redis | Cluster, log: Log, name: string): void {
  patient.set(redis, { log, name, isNotified: false });
}

/**
 * Sends a script. Over a patient connection it is retried while Redis refuses writes: a finished answer is worth more than
 * the worker slot that waits. Safe because all our scripts are idempotent.
 * @throws any other error; over other connections also a refusal
 */
export function sendUntilAccepted<Result>(redis: Redis | Cluster, send: () => Promise<Result>): Promise<Result> {
  return send().catch((thrown: unknown) => {
    const refusals = patient.get(redis);
    if (refusals) return sendAgain({ redis, refusals, send }, thrown);
    throw thrown;
  });
}

async function sendAgain<Result>(
  { redis, refusals, send }: { redis: Redis | Cluster; refusals: Refusals; send: () => Promise<Result> },
  refused: unknown,
): Promise<Result> {
  let thrown = refused;
  for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    if (!isRefusal(thrown) || redis.status === 'end') {
      // Whether Redis still refuses writes is unknown; a next refusal is told again.
      refusals.isNotified = false;
      throw thrown;
    }
    if (!refusals.isNotified) tell(refusals, true, asError(thrown));
    await pause(pauseMs, undefined, { ref: false });
    try {
      const result = await send();
      if (refusals.isNotified) tell(refusals, false);
      return result;
    } catch (error) {
      thrown = error;
    }
  }
}

/** @returns whether the same script succeeds later, by the code of the refusal, wherever Redis or ioredis put it */
export function isRefusal(thrown: unknown): boolean {
  return thrown instanceof Error && (PASSING_CODES.has(codeOf(thrown.message)) || PASSING_WORDS.test(thrown.message));
}

/**
 * Prefixes before the error code, in errors that Redis 6 passes on from within a script, or ioredis after too many
 * redirections.
 */
const WRAPPINGS = [
  'Too many Cluster redirections. Last error: ',
  'ReplyError: ',
  'ERR Error running script ',
  /^\(call to \w+\): /,
  /^@?user_script: ?(?:\d+: )?/,
  '-',
];

function codeOf(message: string): string {
  let rest = message;
  for (const wrapping of WRAPPINGS)
    if (typeof wrapping !== 'string') rest = rest.replace(wrapping, '');
    else if (rest.startsWith(wrapping)) rest = rest.slice(wrapping.length);
  return /^[A-Z]+(?=[ :.]|$)/.exec(rest)?.[0] ?? '';
}

function tell(refusals: Refusals, isRefusing: boolean, error?: Error): void {
  refusals.isNotified = isRefusing;
  const { log, name: connection } = refusals;
  if (isRefusing) log.warn({ error, connection }, 'redis refuses writes; they are retried until it accepts them');
  else log.info({ connection }, 'redis accepts writes again');
}
