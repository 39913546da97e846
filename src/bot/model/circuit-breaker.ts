import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { ChatError, type ChatErrorCode } from './chat-error.ts';
import type { ChatLimits } from './chat-limits.ts';

type BreakerLimits = Pick<ChatLimits, 'breakerWindowMs' | 'breakerMinCalls' | 'breakerFailureShare' | 'breakerProbeMs'>;
type BreakerState = 'closed' | 'open' | 'half-open';

export interface BreakerOptions {
  monotonicMs: NowMs;
  limits: BreakerLimits;
  changed(state: BreakerState): void;
}

/** One call's leave to go out. An answer that begins has succeeded; if it breaks off later, it has failed after all. */
export interface BreakerPass {
  succeeded(): void;
  /** Errors that the request or its caller is to blame for say nothing about the service. */
  failed(error: ChatError): void;
}

/** The breaker opens at once: only the operator can change these, or only time. */
const OPENS_AT_ONCE = new Set<ChatErrorCode>(['chat_refused', 'chat_quota_spent', 'chat_loading']);

/**
 * Faults of the service. The rest is caused by the request or the caller; a limit is no fault, since a service that refuses
 * for its load serves others.
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
 * Stops calling a model that fails (SECURITY.md circuit-breaker): opens at a share of failures in a window, or at once when our key
 * or balance is refused; then lets one probe through at a time until one succeeds. One a model.
 */
export class CircuitBreaker {
  readonly #options: BreakerOptions;
  #state: BreakerState = 'closed';
  #openedAtMs = 0;
  #openedBy: ChatErrorCode = 'chat_unreachable';
  /** Calls that wait for the end of the rest, in their order. */
  readonly #waiters = new Set<() => void>();
  #probeTimer: NodeJS.Timeout | undefined;
  /** Results by the second, oldest first: the window costs the same however many calls there are. */
  #seconds: { second: number; calls: number; failures: number }[] = [];

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** @throws ChatError `chat_circuit_open` at once while the model is given a rest */
  enter(): BreakerPass {
    const { monotonicMs, limits } = this.#options;
    if (this.#state === 'closed') return this.#pass(false);
    const retryAfterMs = this.#openedAtMs + limits.breakerProbeMs - monotonicMs();
    if (this.#state === 'half-open' || retryAfterMs > 0) {
      const detail = { retryAfterMs: Math.max(retryAfterMs, SECOND_MS), openedBy: this.#openedBy };
      throw new ChatError('chat_circuit_open', 'The model is given a rest after failures', detail);
    }
    this.#change('half-open');
    return this.#pass(true);
  }

  /**
   * Waits until a call may try `enter` again: one as the probe after the rest, all once the breaker closes.
   * @returns false when the time or the signal ended the wait
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
    const { monotonicMs, limits } = this.#options;
    const waitMs = Math.max(0, this.#openedAtMs + limits.breakerProbeMs - monotonicMs());
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
        // A service that limits its load is there.
        if (error.code === 'chat_rate_limited' && isProbe && this.#state === 'half-open') return this.#close();
        if (!isRefused && !BLAMED.has(error.code)) return this.#giveBack(isProbe);
        count(true);
        // Calls from before the breaker opened end late; only the probe decides what comes after.
        if (isProbe ? this.#state === 'half-open' : this.#state === 'closed' && (isRefused || this.#isFailing()))
          this.#open(error.code);
      },
    };
  }

  /** A probe that learned nothing: the next call may probe at once. */
  #giveBack(isProbe: boolean): void {
    if (isProbe && this.#state === 'half-open') this.#change('open');
  }

  #open(because: ChatErrorCode): void {
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
    this.#options.changed(state);
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
