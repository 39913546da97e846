import { randomToken } from '../../shared/crypto/ids.ts';
import { INSTANCE_SUFFIX } from '../../shared/log.ts';
import { loadLibrary } from '../../shared/redis/lua-script.ts';

const RANDOM_BYTES = 12;

/** `workerOf` for scripts. */
export const CLAIM_NAME = loadLibrary(import.meta.url, './scripts/library/claim-name.lua');

/** A name for a worker that is not given one. It begins with the end of the `instance` in the log lines of its process. */
export function newWorkerName(): string {
  return `${INSTANCE_SUFFIX}-${randomToken(RANDOM_BYTES)}`;
}

/** Separates the name of a quarantine process into that of its worker and its own. */
export const PART_MARK = '+';

/** Names a quarantine process, so that its turns can be reclaimed after its worker has died. */
export function newPartName(worker: string): string {
  return `${worker}${PART_MARK}${randomToken(RANDOM_BYTES)}`;
}

/** Names one claim of a worker: `worker.random`. */
export function newClaimName(worker: string): string {
  return `${worker}.${randomToken(RANDOM_BYTES)}`;
}
