import { randomToken } from '../../shared/crypto/ids.ts';
import { loadLibrary } from '../../shared/redis/lua-script.ts';

const RANDOM_BYTES = 12;

/** `workerOf` for scripts. */
export const CLAIM_NAME = loadLibrary(import.meta.url, './scripts/library/claim-name.lua');

/** A name for a worker that is not given one. */
export function newWorkerName(): string {
  return randomToken(RANDOM_BYTES);
}

/** Names one claim of a worker: `worker.random`. */
export function newClaimName(worker: string): string {
  return `${worker}.${randomToken(RANDOM_BYTES)}`;
}

/** The name of the worker that made a claim. */
export function workerOfClaim(claim: string): string {
  return claim.split('.')[0] ?? '';
}
