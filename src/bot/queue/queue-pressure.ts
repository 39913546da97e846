import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { asError } from '../../shared/coded-error.ts';
import { settledWithin } from '../../shared/settled-within.ts';
import type { Log } from '../../shared/log.ts';
import type { QueueReport } from './queue-report.ts';
import type { Pressure } from '../domain/turn.ts';

export interface PressureLimits {
  /** Conversations of the whole deployment that wait for a worker. */
  softWaiting: number;
  hardWaiting: number;
  /** How long a turn could have begun until a worker took it, while others still wait. */
  softAgeMs: number;
  hardAgeMs: number;
}

export interface QueuePressureOptions {
  limits: PressureLimits;
  /** Turns at once in one of this process's shards. */
  concurrency: number;
  /** Reads how many wakes wait, over all shards. */
  readWaiting(): Promise<number>;
  nowMs: NowMs;
  log: Log;
  report: Pick<QueueReport, 'pressureChanged'>;
}

const READ_EVERY_MS = SECOND_MS;
/** Over a limit the queue is short again within moments, and nobody is to be turned away after that. */
const READ_UNDER_PRESSURE_EVERY_MS = 100;
/** A turn waits no longer for a reading: a shard may be away. */
const LONGEST_WAIT_MS = 100;
/** An older figure says nothing any more. */
const FIGURE_HOLDS_MS = 5 * SECOND_MS;
const TELL_EVERY_MS = 10 * SECOND_MS;
const ORDER: readonly Pressure[] = ['none', 'soft', 'hard'];

/** One wake that this process has taken. */
export interface TakenWake {
  /** Settles when the queue's length has come that was asked for with it, and within 100 ms; undefined where nothing was asked. Never rejects. */
  reading: Promise<unknown> | undefined;
  /**
   * The pressure as it is now, for this wake.
   * @param dueForMs how long its turn could have begun already, by Redis' clock: ours may be minutes apart from others'
   */
  pressure(dueForMs: number): Pressure;
  /** Its slot is free again. */
  leave(): void;
}

/**
 * Knows how much waits. While a process has a free slot nothing waits for long, so it asks nobody then; with all slots
 * taken it reads the queue's length beside the claim of a turn, at most once a second, and counts down what it takes itself. There is
 * no timer that reads.
 */
export class QueuePressure {
  readonly #options: QueuePressureOptions;
  readonly #taken = new Map<number, number>();
  #waiting = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #told: Pressure = 'none';
  #toldAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: QueuePressureOptions) {
    this.#options = options;
  }

  /** Notes a wake that was taken. */
  take(shard: number): TakenWake {
    this.#count(shard, 1);
    this.#waiting = Math.max(0, this.#waiting - 1);
    const isFull = this.#isFull(shard);
    const reading = isFull ? this.#readIfDue() : undefined;
    return {
      reading: reading && settledWithin([reading], LONGEST_WAIT_MS),
      pressure: (dueForMs) => {
        const pressure = isFull ? this.#judge(dueForMs) : 'none';
        this.#tell(pressure);
        return pressure;
      },
      leave: () => this.#count(shard, -1),
    };
  }

  #count(shard: number, by: 1 | -1): void {
    this.#taken.set(shard, (this.#taken.get(shard) ?? 0) + by);
  }

  #isFull(shard: number): boolean {
    return (this.#taken.get(shard) ?? 0) >= this.#options.concurrency;
  }

  #judge(ageMs: number): Pressure {
    const { limits, nowMs } = this.#options;
    if (!isWithin(nowMs() - this.#readAtMs, FIGURE_HOLDS_MS) || this.#waiting === 0) return 'none';
    if (this.#waiting >= limits.hardWaiting || ageMs >= limits.hardAgeMs) return 'hard';
    return this.#waiting >= limits.softWaiting || ageMs >= limits.softAgeMs ? 'soft' : 'none';
  }

  #readIfDue(): Promise<void> | undefined {
    const { nowMs, readWaiting, log, limits } = this.#options;
    const isOverLimit = this.#waiting >= limits.softWaiting;
    const gapMs = isOverLimit ? READ_UNDER_PRESSURE_EVERY_MS : READ_EVERY_MS;
    if (isWithin(nowMs() - this.#askedAtMs, gapMs)) return undefined;
    this.#askedAtMs = nowMs();
    return readWaiting().then(
      (waiting) => {
        this.#waiting = waiting;
        this.#readAtMs = nowMs();
      },
      (thrown: unknown) => log.debug({ error: asError(thrown) }, 'the length of the queue could not be read'),
    );
  }

  /** What grows is told at once, what goes back only after a while: a queue at its limit passes it again and again. */
  #tell(pressure: Pressure): void {
    const { nowMs, report } = this.#options;
    if (pressure === this.#told) return;
    const isHigher = ORDER.indexOf(pressure) > ORDER.indexOf(this.#told);
    if (!isHigher && isWithin(nowMs() - this.#toldAtMs, TELL_EVERY_MS)) return;
    this.#told = pressure;
    this.#toldAtMs = nowMs();
    report.pressureChanged({ pressure, waiting: this.#waiting });
  }
}

/** Not if the clock was set back meanwhile: then what was noted lies in the future. */
function isWithin(sinceMs: number, limitMs: number): boolean {
  return sinceMs >= 0 && sinceMs < limitMs;
}
