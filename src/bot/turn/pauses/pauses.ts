import { inBackground } from '../../../shared/in-background.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { subscribe } from '../../../shared/redis/subscriber.ts';
import { PAUSES_CHANNEL, type Pause, type PauseTarget } from '../../domain/pause.ts';
import type { TurnReport } from '../turn-ports.ts';
import { readPauses } from './pause-store.ts';

/**
 * The pauses set by administrators, in memory, so that checking them needs no call to Redis. Read at the start, after each
 * reconnect, and when they change.
 */
export class Pauses {
  /** Resolves once the pauses are known. */
  readonly settled: Promise<void>;
  readonly #redis: RedisClient;
  readonly #report: Pick<TurnReport, 'pausesRead'>;
  readonly #endHearing: () => void;
  #pauses: ReadonlyMap<PauseTarget, Pause> = new Map();
  #reads = 0;

  constructor(redis: RedisClient, report: Pick<TurnReport, 'pausesRead'>) {
    this.#redis = redis;
    this.#report = report;
    const reread = () => inBackground(() => this.#read());
    this.#endHearing = subscribe(redis, { channel: PAUSES_CHANNEL, onMessage: reread, onReady: reread });
    // A failed read is repeated once the connection is back.
    this.settled = this.#read().catch(() => undefined);
  }

  of(...targets: readonly PauseTarget[]): Pause | undefined {
    if (this.#pauses.size === 0) return undefined;
    for (const target of targets) {
      const found = this.#pauses.get(target);
      if (found) return found;
    }
    return undefined;
  }

  close(): void {
    this.#endHearing();
  }

  async #read(): Promise<void> {
    const read = (this.#reads += 1);
    const pauses = await readPauses(this.#redis);
    // A later read may have overtaken this one.
    if (read !== this.#reads) return;
    this.#pauses = new Map(pauses.map((pause) => [pause.target, pause]));
    this.#report.pausesRead({ targets: pauses.map(({ target }) => target) });
  }
}
