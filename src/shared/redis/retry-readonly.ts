import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster, Redis } from 'ioredis';
import { asError } from '../coded-error.ts';
import { SECOND_MS } from '../clock.ts';
import type { Log } from '../log.ts';

/** Codes of refusals that pass: the same script succeeds later. */
const PASSING_CODES: ReadonlySet<string> = new Set([
  // Full, cannot write its files, lacks its replicas, is a replica itself.
  ...['OOM', 'MISCONF', 'NOREPLICAS', 'READONLY'],
  // The user lacks a right until the operator grants it.
  'NOPERM',
  // Reads its files, has lost its master, runs a long script.
  ...['LOADING', 'MASTERDOWN', 'BUSY', 'UNKILLABLE'],
  // A slot is unowned, half moved, or owned by the node that names another one.
  ...['CLUSTERDOWN', 'TRYAGAIN', 'MOVED', 'ASK'],
  // The node has forgotten the script, or never kept it since it redirected the call.
  'NOSCRIPT',
]);
/** Refusals that some versions put into words of their own within a script. */
const PASSING_WORDS = /used memory > 'maxmemory'|can't run this command/;
const LONGEST_PAUSE_MS = SECOND_MS;

interface Refusals {
  log: Log;
  name: string;
  isTold: boolean;
}

/** Connections whose scripts wait for Redis to take writes again. */
const patient = new WeakMap<Redis | Cluster, Refusals>();

/** From now on scripts over this connection are kept while Redis refuses writes, as commands are while it is away. */
export function waitOutRefusals(redis: Redis | Cluster, log: Log, name: string): void {
  patient.set(redis, { log, name, isTold: false });
}

/**
 * Sends a script, and over a patient connection once more for as long as Redis refuses writes: an answer that is whole is
 * worth more than the slot that waits with it. Safe since every script of ours may be repeated.
 * @throws what else it comes to; over other connections a refusal too
 */
export function sendUntilTaken<Result>(redis: Redis | Cluster, send: () => Promise<Result>): Promise<Result> {
  const refusals = patient.get(redis);
  return refusals ? sendPatiently(redis, refusals, send) : send();
}

async function sendPatiently<Result>(
  redis: Redis | Cluster,
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

/** @returns whether the same script succeeds later, by the code of the refusal wherever Redis or ioredis put it */
export function isRefusal(thrown: unknown): boolean {
  return thrown instanceof Error && (PASSING_CODES.has(codeOf(thrown.message)) || PASSING_WORDS.test(thrown.message));
}

/** What stands before the code of an error that Redis 6 passes on from within a script, or ioredis after too many redirections. */
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
  refusals.isTold = isRefusing;
  const { log, name: connection } = refusals;
  if (isRefusing) log.warn({ error, connection }, 'redis refuses writes; what is to be written waits for it');
  else log.info({ connection }, 'redis takes writes again');
}
