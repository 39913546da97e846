import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { ChatError, type ChatErrorCode } from './chat-error.ts';
import type { ChatLimits } from './chat-limits.ts';

type BreakerLimits = Pick<
  ChatLimits,
  'breakerWindowMs' | 'breakerMinCalls' | 'breakerFailureShare' | 'breakerFirstProbeMs' | 'breakerProbeMs'
>;
type BreakerState = 'closed' | 'open' | 'half-open';

export interface BreakerOptions {
  monotonicMs: NowMs;
  limits: BreakerLimits;
  onChange(state: BreakerState): void;
}

/** Permission for one call. A call succeeds when its answer begins, and fails after all if the answer breaks off later. */
export interface BreakerPass {
  succeeded(): void;
  /** Errors caused by the request or the caller do not count against the service. */
  failed(error: ChatError): void;
}

/** Errors that only the operator can resolve, so no question waits for them. */
export const NEEDS_OPERATOR = new Set<ChatErrorCode>(['chat_refused', 'chat_quota_spent']);

/** Errors that open the breaker immediately, because only the operator or time can resolve them. */
const OPENS_AT_ONCE = new Set<ChatErrorCode>([...NEEDS_OPERATOR, 'chat_loading']);

/**
 * Faults of the service. All other errors are caused by the request or the caller. A rate limit is not a fault, because an
 * overloaded service still serves other calls.
 */
const BLAMED = new Set<ChatErrorCode>([
  'chat_unreachable',
  'chat_timeout',
  'chat_server_error',
  'chat_bad_stream',
  'chat_stalled',
  'chat_truncated',
]);

/**
 * Stops calls to a failing model (SECURITY.md circuit-breaker). Opens at a share of failures in a window, or immediately
 * when the service refuses the key or the balance, or is loading the model; then lets one probe through at a time until one
 * succeeds. The first comes early, because most outages are cut links and restarts of seconds. One breaker per model.
 */
export class CircuitBreaker {
  readonly #options: BreakerOptions;
  #state: BreakerState = 'closed';
  #openedAtMs = 0;
  /** Time from the opening, or from a failed probe, to the next probe. */
  #probeDelayMs = 0;
  #openedBy: ChatErrorCode = 'chat_unreachable';
  /** Calls that wait for the breaker, in order of arrival. */
  readonly #waiters = new Set<() => void>();
  #probeTimer: NodeJS.Timeout | undefined;
  /** Results per second, oldest first, so that the cost of the window does not depend on the number of calls. */
  #seconds: { second: number; calls: number; failures: number }[] = [];

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** @throws ChatError `chat_circuit_open` immediately while the breaker is open */
  enter(): BreakerPass {
    const { monotonicMs } = this.#options;
    if (this.#state === 'closed') return this.#pass(false);
    const retryAfterMs = this.#openedAtMs + this.#probeDelayMs - monotonicMs();
    if (this.#state === 'half-open' || retryAfterMs > 0) {
      const detail = { retryAfterMs: Math.max(retryAfterMs, SECOND_MS), openedBy: this.#openedBy };
      throw new ChatError('chat_circuit_open', 'The model is not called for a while after failures', detail);
    }
    this.#change('half-open');
    return this.#pass(true);
  }

  /**
   * Waits until a call may try `enter` again: one call as the next probe, all calls once the breaker closes.
   * @returns false if the deadline or the signal ended the wait
   */
  async mayEnter(untilMs: number, signal: AbortSignal): Promise<boolean> {
    const { monotonicMs } = this.#options;
    if (this.#state === 'closed') return true;
    return new Promise<boolean>((resolve) => {
      const end = (mayEnter: boolean) => {
        clearTimeout(deadline);
        signal.removeEventListener('abort', giveUp);
        this.#waiters.delete(wake);
        resolve(mayEnter);
      };
      const wake = () => end(true);
      const giveUp = () => end(false);
      const deadline = setTimeout(giveUp, Math.max(0, untilMs - monotonicMs()));
      this.#waiters.add(wake);
      signal.addEventListener('abort', giveUp, { once: true });
      if (signal.aborted) giveUp();
      else this.#planProbe();
    });
  }

  #planProbe(): void {
    if (this.#state !== 'open' || this.#waiters.size === 0) return;
    clearTimeout(this.#probeTimer);
    const { monotonicMs } = this.#options;
    const waitMs = Math.max(0, this.#openedAtMs + this.#probeDelayMs - monotonicMs());
    this.#probeTimer = setTimeout(() => {
      const [first] = this.#waiters;
      first?.();
    }, waitMs);
    this.#probeTimer.unref();
  }

  #pass(isProbe: boolean): BreakerPass {
    let isCounted = false;
    const count = (isFailure: boolean) => {
      this.#count({ calls: isCounted ? 0 : 1, failures: isFailure ? 1 : 0 });
      isCounted = true;
    };
    return {
      succeeded: () => {
        count(false);
        if (isProbe && this.#state === 'half-open') this.#close();
      },
      failed: (error) => {
        const isRefused = OPENS_AT_ONCE.has(error.code);
        // A service that limits its load is available.
        if (error.code === 'chat_rate_limited' && isProbe && this.#state === 'half-open') return this.#close();
        if (!isRefused && !BLAMED.has(error.code)) return this.#giveBack(isProbe);
        count(true);
        // Calls from before the breaker opened may end late; only the probe changes the state now.
        if (isProbe ? this.#state === 'half-open' : this.#state === 'closed' && (isRefused || this.#isFailing()))
          this.#open(error.code);
      },
    };
  }

  /** Releases an inconclusive probe, so that the next call may probe immediately. */
  #giveBack(isProbe: boolean): void {
    if (isProbe && this.#state === 'half-open') this.#change('open');
  }

  #open(because: ChatErrorCode): void {
    const { breakerFirstProbeMs, breakerProbeMs } = this.#options.limits;
    const nextDelayMs = this.#state === 'closed' ? breakerFirstProbeMs : 2 * this.#probeDelayMs;
    this.#probeDelayMs = NEEDS_OPERATOR.has(because) ? breakerProbeMs : Math.min(nextDelayMs, breakerProbeMs);
    this.#openedBy = because;
    this.#openedAtMs = this.#options.monotonicMs();
    this.#change('open');
  }

  #close(): void {
    this.#seconds = [];
    this.#change('closed');
  }

  #change(state: BreakerState): void {
    this.#state = state;
    this.#options.onChange(state);
    if (state === 'closed') for (const wake of [...this.#waiters]) wake();
    else this.#planProbe();
  }

  #count({ calls, failures }: { calls: number; failures: number }): void {
    const second = Math.floor(this.#options.monotonicMs() / SECOND_MS);
    let bucket = this.#seconds.at(-1);
    if (bucket?.second !== second) {
      bucket = { second, calls: 0, failures: 0 };
      this.#seconds.push(bucket);
      const oldest = second - this.#options.limits.breakerWindowMs / SECOND_MS;
      this.#seconds = this.#seconds.filter((kept) => kept.second > oldest);
    }
    bucket.calls += calls;
    bucket.failures += failures;
  }

  #isFailing(): boolean {
    const calls = this.#seconds.reduce((sum, bucket) => sum + bucket.calls, 0);
    const failures = this.#seconds.reduce((sum, bucket) => sum + bucket.failures, 0);
    const { breakerMinCalls, breakerFailureShare } = this.#options.limits;
    return calls >= breakerMinCalls && failures >= calls * breakerFailureShare;
  }
}
