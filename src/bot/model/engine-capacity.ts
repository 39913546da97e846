import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { inBackground } from '../../shared/in-background.ts';
import { RENEW_MS, type CapacityGrant, type CapacityShare } from './capacity-share.ts';
import { ChatError } from './chat-error.ts';

/** Time after which a waiting question is notified of the wait. */
const NOTIFY_AFTER_MS = SECOND_MS;
/** Jitter of the first call after a pause. */
const JITTER_MS = SECOND_MS / 2;
/** An engine that accepted a call within this time counts as serving. */
const SERVING_MS = 10 * SECOND_MS;
/** Jitter that keeps waiting workers from reporting at the same moment. */
const NEWS_JITTER_MS = 20;
/** Delay before a process without file descriptors tries again, plus up to the same amount of jitter. */
const STARVED_MS = SECOND_MS;
/** Share of its current calls that a process keeps when file descriptors run out; posting answers needs some too. */
const KEPT_WHEN_STARVED = 0.75;
/** Interval at which a process that ran out of file descriptors raises its limit by one call. */
const REGROW_MS = 10 * SECOND_MS;

export interface EngineCapacityOptions {
  engine: string;
  share: CapacityShare;
  monotonicMs: NowMs;
  /** 0 ≤ x < 1. */
  random: () => number;
  /** Called when the limit is learned, changed or forgotten (0). */
  onLimitChanged(limit: number): void;
}

/** A question's request for a permit. Times are on the monotonic clock. */
interface CapacityRequest {
  askedAtMs: number;
  untilMs: number;
  signal: AbortSignal;
  /** Called once after one second of waiting. */
  waits(): void;
}

/** Permit for one call. `refused`, `starved` and `leave` end it; only the first of them has an effect. */
export interface CapacityPermit {
  /** The engine began to answer. */
  accepted(): void;
  /** The engine has no capacity for this call. */
  refused(retryAfterMs: number | undefined): void;
  /** This process has no file descriptor for this call. */
  starved(): void;
  leave(): void;
}

interface Waiter {
  askedAtMs: number;
  admit(): void;
}

/**
 * Limits calls to one engine to the concurrency that it has been observed to serve, oldest question first. Until the engine
 * first refuses a call, every call is admitted at the cost of a counter.
 */
export class EngineCapacity {
  readonly #options: EngineCapacityOptions;
  /** Maximum concurrent calls of all workers together; 0 while the engine has refused no call. */
  #limit = 0;
  #reportedLimit = 0;
  #held = 0;
  #running = 0;
  /** Maximum concurrent calls since the last report. */
  #top = 0;
  #acceptedAtMs = Number.NEGATIVE_INFINITY;
  #passed = 0;
  #refused = 0;
  #pauseMs = 0;
  /** Maximum calls for which this process has file descriptors. */
  #localLimit = Number.POSITIVE_INFINITY;
  #localSinceMs = 0;
  /** When the first of the latest calls found no file descriptor. */
  #starvedAtMs = Number.NEGATIVE_INFINITY;
  /** Half of the limit at that time. Other connections may hold the descriptors while few calls run. */
  #localFloor = 1;
  /** Oldest question first. */
  readonly #waiters: Waiter[] = [];
  #isReporting = false;
  #isClosed = false;
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: EngineCapacityOptions) {
    this.#options = options;
    options.share.onNews((engine) => {
      if (engine !== options.engine) return;
      // Other workers have learned a limit; this process now takes part.
      const isNew = this.#limit === 0;
      this.#limit ||= 1;
      if (isNew || this.#waiters.length > 0) this.#admitIn(NEWS_JITTER_MS * options.random());
    });
  }

  get isLimited(): boolean {
    return this.#limit > 0;
  }

  /** Whether the engine serves calls of this process or accepted one within SERVING_MS. */
  get isServing(): boolean {
    return this.#running > 0 || this.#options.monotonicMs() - this.#acceptedAtMs < SERVING_MS;
  }

  /** @throws ChatError `chat_rate_limited` at `untilMs`, `chat_cancelled` on abort */
  async enter(wish: CapacityRequest): Promise<CapacityPermit> {
    const isFree = this.#limit === 0 && this.#waiters.length === 0 && this.#held < this.#localLimit;
    if (isFree) this.#held += 1;
    else await this.#wait(wish);
    return this.#permit();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #permit(): CapacityPermit {
    let isRunning = false;
    let isOver = false;
    const end = (): boolean => {
      if (isOver) return false;
      isOver = true;
      this.#held -= 1;
      if (isRunning) this.#running -= 1;
      return true;
    };
    return {
      accepted: () => {
        if (isOver || isRunning) return;
        isRunning = true;
        this.#running += 1;
        this.#top = Math.max(this.#top, this.#running);
        this.#acceptedAtMs = this.#options.monotonicMs();
        this.#passed += 1;
      },
      refused: (retryAfterMs = 0) => {
        if (isRunning && !isOver) this.#undoAccepted();
        if (!end()) return;
        this.#refused += 1;
        this.#pauseMs = Math.max(this.#pauseMs, retryAfterMs);
        this.#limit ||= Math.max(1, this.#running);
        this.#admit();
      },
      starved: () => {
        if (!end()) return;
        const nowMs = this.#options.monotonicMs();
        if (nowMs - this.#starvedAtMs >= STARVED_MS) {
          this.#starvedAtMs = nowMs;
          this.#localFloor = Number.isFinite(this.#localLimit) ? Math.max(1, Math.floor(this.#localLimit / 2)) : 1;
        }
        this.#localLimit = Math.max(this.#localFloor, Math.floor(this.#held * KEPT_WHEN_STARVED));
        this.#localSinceMs = nowMs;
        this.#admitIn(STARVED_MS * (1 + this.#options.random()));
      },
      leave: () => {
        if (!end()) return;
        this.#regrow();
        this.#admit();
      },
    };
  }

  /** Corrects the counters when the response that had begun turned out to be a refusal. */
  #undoAccepted(): void {
    this.#passed = Math.max(0, this.#passed - 1);
    this.#top = Math.max(0, Math.min(this.#top, this.#running) - 1);
  }

  async #wait(wish: CapacityRequest): Promise<void> {
    const { monotonicMs } = this.#options;
    await new Promise<void>((resolve, reject) => {
      const end = (error?: ChatError) => {
        clearTimeout(told);
        clearTimeout(deadline);
        wish.signal.removeEventListener('abort', cancel);
        if (error === undefined) return resolve();
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(error);
      };
      const cancel = () => end(new ChatError('chat_cancelled', 'The chat call was cancelled'));
      const waiter: Waiter = { askedAtMs: wish.askedAtMs, admit: () => end() };
      const told = setTimeout(() => wish.waits(), NOTIFY_AFTER_MS);
      const deadline = setTimeout(
        () => end(new ChatError('chat_rate_limited', 'The engine had no capacity before the question expired')),
        Math.max(0, wish.untilMs - monotonicMs()),
      );
      const behind = this.#waiters.findIndex(({ askedAtMs }) => askedAtMs > wish.askedAtMs);
      this.#waiters.splice(behind < 0 ? this.#waiters.length : behind, 0, waiter);
      if (wish.signal.aborted) return cancel();
      wish.signal.addEventListener('abort', cancel, { once: true });
      this.#admit();
    });
  }

  /** Admits waiting questions: locally while no limit is known, otherwise through a report to the shared state. */
  #admit(): void {
    if (this.#limit > 0) inBackground(() => this.#report());
    else this.#admitWaiters(this.#waiters.length);
  }

  #admitWaiters(count: number): number {
    const taken = Math.min(count, this.#waiters.length, Math.max(0, this.#localLimit - this.#held));
    for (const waiter of this.#waiters.splice(0, taken)) {
      this.#held += 1;
      waiter.admit();
    }
    return taken;
  }

  /** Sends one report at a time. The next report contains all changes made in the meantime. */
  async #report(): Promise<void> {
    this.#isDue = true;
    if (this.#isReporting) return;
    this.#isReporting = true;
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      const { granted, limit, againInMs } = await this.#reportOnce();
      this.#setLimit(limit);
      const taken = this.#admitWaiters(limit === 0 ? this.#waiters.length : granted);
      // A question left in the meantime: report again to return its permit.
      this.#isDue ||= limit > 0 && taken < granted;
      if (!this.#isDue) this.#plan(againInMs);
    }
    this.#isReporting = false;
  }

  async #reportOnce(): Promise<CapacityGrant> {
    const { share, engine, monotonicMs } = this.#options;
    const [oldest] = this.#waiters;
    const [passed, refused, pauseMs, top] = [this.#passed, this.#refused, this.#pauseMs, this.#top];
    [this.#passed, this.#refused, this.#pauseMs, this.#top] = [0, 0, 0, this.#running];
    try {
      return await share.report(engine, {
        held: this.#held,
        running: this.#running,
        waiting: Math.min(this.#waiters.length, Math.max(0, this.#localLimit - this.#held)),
        waitedMs: oldest ? monotonicMs() - oldest.askedAtMs : 0,
        ...{ top, passed, refused, pauseMs },
      });
    } catch {
      // While Redis is unavailable, each worker enforces the limit by itself.
      this.#top = Math.max(this.#top, top);
      this.#passed += passed;
      this.#refused += refused;
      this.#pauseMs = Math.max(this.#pauseMs, pauseMs);
      const free = pauseMs > 0 ? 0 : Math.max(0, Math.min(this.#limit, this.#localLimit) - this.#held);
      return { granted: Math.min(free, this.#waiters.length), limit: this.#limit, againInMs: SECOND_MS };
    }
  }

  #plan(againInMs: number): void {
    if (this.#limit === 0 || (this.#held === 0 && this.#waiters.length === 0)) return;
    const jitterMs = this.#options.random() * Math.min(againInMs, JITTER_MS);
    this.#admitIn(againInMs > 0 ? Math.min(againInMs + jitterMs, RENEW_MS) : RENEW_MS);
  }

  #admitIn(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#regrow();
      this.#admit();
    }, ms);
    this.#timer.unref();
  }

  #regrow(): void {
    const { monotonicMs } = this.#options;
    if (monotonicMs() - this.#localSinceMs < REGROW_MS) return;
    this.#localLimit += 1;
    this.#localSinceMs = monotonicMs();
  }

  #setLimit(limit: number): void {
    this.#limit = limit;
    if (limit === this.#reportedLimit) return;
    this.#reportedLimit = limit;
    this.#options.onLimitChanged(limit);
  }
}
