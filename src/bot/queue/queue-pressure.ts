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
  /** How long a turn was due when a worker claimed it, while others still wait. */
  softAgeMs: number;
  hardAgeMs: number;
}

export interface QueuePressureOptions {
  limits: PressureLimits;
  /** Concurrent turns per shard in this process. */
  concurrency: number;
  /** Returns the number of waiting wakes over all shards. */
  readWaiting(): Promise<number>;
  nowMs: NowMs;
  log: Log;
  report: Pick<QueueReport, 'pressureChanged'>;
}

const READ_EVERY_MS = SECOND_MS;
/** Shorter over a limit: the queue may recover within moments, and messages must not be refused after that. */
const READ_UNDER_PRESSURE_EVERY_MS = 100;
/** Maximum time a turn waits for a reading, because a shard may be unavailable. */
const MAX_WAIT_MS = 100;
/** Readings older than this are ignored. */
const FIGURE_HOLDS_MS = 5 * SECOND_MS;
const TELL_EVERY_MS = 10 * SECOND_MS;
const ORDER: readonly Pressure[] = ['none', 'soft', 'hard'];

/** A wake taken by this process. */
export interface TakenWake {
  /** Settles when the requested queue length arrives, or after 100 ms. Undefined if none was requested. Never rejects. */
  reading: Promise<unknown> | undefined;
  /**
   * The current pressure for this wake.
   * @param dueForMs how long the turn has been due, by the Redis clock, because local clocks may differ by minutes
   */
  pressure(dueForMs: number): Pressure;
  /** Frees the slot. */
  leave(): void;
}

/**
 * Tracks how many wakes wait. A process with a free slot does not ask, because nothing waits for long then. With all slots
 * taken it reads the queue length while it claims a turn, at most once a second (every 100 ms over a limit), and subtracts
 * the wakes that it takes itself. No timer reads it. Pressure never refuses a delivery: under hard pressure people get a
 * notice instead of an answer.
 */
export class QueuePressure {
  readonly #options: QueuePressureOptions;
  readonly #taken = new Map<number, number>();
  #waiting = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #told: Pressure = 'none';
  #reportedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: QueuePressureOptions) {
    this.#options = options;
  }

  take(shard: number): TakenWake {
    this.#count(shard, 1);
    this.#waiting = Math.max(0, this.#waiting - 1);
    const isFull = this.#isFull(shard);
    const reading = isFull ? this.#readIfDue() : undefined;
    return {
      reading: reading && settledWithin([reading], MAX_WAIT_MS),
      pressure: (dueForMs) => {
        const pressure = isFull ? this.#judge(dueForMs) : 'none';
        this.#tell(pressure);
        return pressure;
      },
      leave: () => this.#count(shard, -1),
    };
  }

  /** Whether all slots of a shard are taken here. */
  get isFull(): boolean {
    return [...this.#taken.keys()].some((shard) => this.#isFull(shard));
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

  /** Reports an increase at once and a decrease only after a while: a queue at its limit crosses it again and again. */
  #tell(pressure: Pressure): void {
    const { nowMs, report } = this.#options;
    if (pressure === this.#told) return;
    const isHigher = ORDER.indexOf(pressure) > ORDER.indexOf(this.#told);
    if (!isHigher && isWithin(nowMs() - this.#reportedAtMs, TELL_EVERY_MS)) return;
    this.#told = pressure;
    this.#reportedAtMs = nowMs();
    report.pressureChanged({ pressure, waiting: this.#waiting });
  }
}

/** False if the clock was set back, because the noted time is then in the future. */
function isWithin(sinceMs: number, limitMs: number): boolean {
  return sinceMs >= 0 && sinceMs < limitMs;
}
