import { access, mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monotonicMs } from '../../../shared/clock.ts';
import { inBackground } from '../../../shared/in-background.ts';

export interface ClaimTimes {
  /** Between two renewals. */
  renewMs: number;
  /** One that nobody renewed for so long is lost. */
  lostAfterMs: number;
}

/** Thrown when another process has taken the round over. */
export class ClaimLostError extends Error {}

interface SeenClaim {
  number: number;
  isFree: boolean;
  stamp: string;
}

const NAME = /^claim-(\d{1,15})(\.free)?$/;

/**
 * Whose turn it is to read a site, among all processes that share its folder: a file with a number that only grows. Whoever takes over
 * makes the next number, which only one can, and what the earlier one then finds ends its round. How long nobody renewed a claim is
 * counted here, by how long we see it unchanged, so that neither machine's clock decides.
 */
export class RoundClaims {
  readonly #folder: string;
  readonly #times: ClaimTimes;
  #seen: { claim: SeenClaim; sinceMs: number } | undefined;

  constructor(folder: string, times: ClaimTimes) {
    this.#folder = folder;
    this.#times = times;
  }

  /** @returns undefined while another process has it @throws the system's error */
  async take(): Promise<RoundClaim | undefined> {
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
    return new RoundClaim(this.#folder, number, this.#times.renewMs);
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

/** A round that is ours. */
export class RoundClaim {
  readonly #path: string;
  readonly #next: string;
  readonly #renewal: NodeJS.Timeout;

  constructor(folder: string, number: number, renewMs: number) {
    this.#path = join(folder, `claim-${number}`);
    this.#next = join(folder, `claim-${number + 1}`);
    const renew = async () => {
      // Where it is taken over, or the disk away, `check` tells.
      await utimes(this.#path, new Date(), new Date()).catch(() => undefined);
    };
    this.#renewal = setInterval(() => inBackground(renew), renewMs).unref();
  }

  /** To be asked before anything is asked or written. @throws ClaimLostError */
  async check(): Promise<void> {
    if ((await isThere(this.#next)) || !(await isThere(this.#path)))
      throw new ClaimLostError('Another process reads the site now');
  }

  /** Lets whoever wants it have it. */
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
