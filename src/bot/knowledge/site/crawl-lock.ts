import { access, mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monotonicMs } from '../../../shared/clock.ts';
import { inBackground } from '../../../shared/in-background.ts';

export interface ClaimTimes {
  /** Renewal interval. */
  renewMs: number;
  /** Time without a renewal after which a claim expires. */
  lostAfterMs: number;
}

/** Thrown if another process has taken over the crawl. */
export class ClaimLostError extends Error {}

interface SeenClaim {
  number: number;
  isFree: boolean;
  stamp: string;
}

const NAME = /^claim-(\d{1,15})(\.free)?$/;

/**
 * A lock for crawling a site, shared by all processes that use its folder. It is a file with an increasing number. Creating
 * the next number takes over the lock; only one process can succeed, and the previous holder then stops. Expiry is measured
 * by how long this process sees a claim unchanged, so that clock differences between machines do not matter.
 */
export class CrawlLocks {
  readonly #folder: string;
  readonly #times: ClaimTimes;
  #seen: { claim: SeenClaim; sinceMs: number } | undefined;

  constructor(folder: string, times: ClaimTimes) {
    this.#folder = folder;
    this.#times = times;
  }

  /** @returns undefined if another process holds the lock @throws the system's error */
  async take(): Promise<CrawlLock | undefined> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const newest = await this.#newest();
    if (newest && !newest.isFree && !this.#isLost(newest)) return undefined;
    const number = (newest?.number ?? 0) + 1;
    try {
      await writeFile(join(this.#folder, `claim-${number}`), '', { flag: 'wx', mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
      throw error;
    }
    await this.#removeBelow(number);
    return new CrawlLock(this.#folder, number, this.#times.renewMs);
  }

  async #newest(): Promise<SeenClaim | undefined> {
    const seen = await this.#all();
    return seen.sort((one, other) => other.number - one.number || Number(one.isFree) - Number(other.isFree))[0];
  }

  async #all(): Promise<SeenClaim[]> {
    const claims: SeenClaim[] = [];
    for (const name of await readdir(this.#folder)) {
      const [, number, free] = NAME.exec(name) ?? [];
      if (number === undefined) continue;
      const stats = await stat(join(this.#folder, name)).catch(() => undefined);
      claims.push({ number: Number(number), isFree: free !== undefined, stamp: `${name} ${stats?.mtimeMs ?? ''}` });
    }
    return claims;
  }

  #isLost(claim: SeenClaim): boolean {
    if (this.#seen?.claim.stamp !== claim.stamp) this.#seen = { claim, sinceMs: monotonicMs() };
    return monotonicMs() - this.#seen.sinceMs >= this.#times.lostAfterMs;
  }

  async #removeBelow(number: number): Promise<void> {
    for (const claim of await this.#all())
      if (claim.number < number)
        await rm(join(this.#folder, `claim-${claim.number}${claim.isFree ? '.free' : ''}`), { force: true });
  }
}

/** A lock held by this process. */
export class CrawlLock {
  readonly #path: string;
  readonly #next: string;
  readonly #renewal: NodeJS.Timeout;

  constructor(folder: string, number: number, renewMs: number) {
    this.#path = join(folder, `claim-${number}`);
    this.#next = join(folder, `claim-${number + 1}`);
    const renew = async () => {
      // If the lock was taken over or the disk is unavailable, `check` reports it.
      await utimes(this.#path, new Date(), new Date()).catch(() => undefined);
    };
    this.#renewal = setInterval(() => inBackground(renew), renewMs).unref();
  }

  /** Must be called before each request and write. @throws ClaimLostError */
  async check(): Promise<void> {
    if ((await isThere(this.#next)) || !(await isThere(this.#path)))
      throw new ClaimLostError('Another process is crawling the site');
  }

  /** Releases the lock. */
  async release(): Promise<void> {
    clearInterval(this.#renewal);
    await rename(this.#path, `${this.#path}.free`).catch(() => undefined);
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
