import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../../shared/clock.ts';
import type { CallParts } from './call-parts.ts';
import { ChatError } from './chat-error.ts';
import type { ChatRequest, WaitPolicy, WaitReason } from './chat-types.ts';
import { NEEDS_OPERATOR, type BreakerPass, type CircuitBreaker } from './circuit-breaker.ts';
import type { CapacityPermit, EngineCapacity } from './engine-capacity.ts';

/** Admission of one call: the breaker's pass and a capacity permit. */
interface Admitted {
  pass: BreakerPass;
  permit: CapacityPermit;
}

/** Pause before an unreachable service is tried again, plus up to the same amount of jitter. */
const REACH_PAUSE_MS = SECOND_MS;

/** Pause of a refused question, whatever the engine asks for: the shared limit decides whether all questions wait longer. */
const MIN_REFUSED_PAUSE_MS = SECOND_MS / 4;
const MAX_REFUSED_PAUSE_MS = SECOND_MS;

const NO_PERMIT: CapacityPermit = {
  accepted: () => undefined,
  refused: () => undefined,
  starved: () => undefined,
  leave: () => undefined,
};

/**
 * Admits the calls of one question to one model. A question with a wait policy waits for capacity, for an unreachable service and
 * for a model that is loading. Waiting does not consume an attempt: overload is resolved by queueing, not by the user.
 */
export class Admission {
  readonly #parts: CallParts;
  readonly #request: ChatRequest;
  readonly #signal: AbortSignal;
  readonly #waitPolicy: WaitPolicy | undefined;
  readonly #breaker: CircuitBreaker;
  readonly #capacity: EngineCapacity | undefined;
  readonly #hasFallback: boolean;
  #awaySinceMs: number | undefined;
  #notifiedReason: WaitReason | undefined;

  constructor(
    parts: CallParts,
    { request, signal, hasFallback }: { request: ChatRequest; signal: AbortSignal; hasFallback: boolean },
  ) {
    const { waitPolicy, model } = request;
    this.#parts = parts;
    this.#request = request;
    this.#signal = signal;
    this.#breaker = parts.engines.breakerOf(model);
    const capacity = parts.engines.capacityOf(model);
    const untilMs = hasFallback ? parts.monotonicMs() + parts.limits.fallbackAfterMs : Number.POSITIVE_INFINITY;
    this.#waitPolicy =
      capacity && waitPolicy && (waitPolicy.untilMs <= untilMs ? waitPolicy : { ...waitPolicy, untilMs });
    this.#capacity = capacity;
    this.#hasFallback = hasFallback;
  }

  /** @throws ChatError if the question may not wait or has waited too long: `before`, or the reason for the wait */
  async enter(before?: ChatError): Promise<Admitted> {
    for (;;) {
      const permit = await this.#permit();
      try {
        return { permit, pass: this.#breaker.enter() };
      } catch (error) {
        permit.leave();
        if (!(error instanceof ChatError) || !(await this.#waitForBreaker(error))) throw before ?? error;
      }
    }
  }

  /** Releases a call that failed before its first event. @returns whether it may be repeated without consuming an attempt */
  async mayRetry(
    error: ChatError,
    { permit, isLastTry }: { permit: CapacityPermit | undefined; isLastTry: boolean },
  ): Promise<boolean> {
    if (this.#waitPolicy === undefined || permit === undefined) return false;
    if (error.code === 'chat_local_limit') {
      permit.starved();
      return true;
    }
    if (this.#isLimit(error, isLastTry)) {
      permit.refused(error.retryAfterMs);
      await this.#pauseAfterRefusal(error.retryAfterMs);
      return true;
    }
    permit.leave();
    if (this.#hasFallback) return false;
    if (error.code === 'chat_loading') return this.#waitUntilAdmitted(error);
    if (error.code !== 'chat_unreachable' || !this.#isInTime('reach')) return false;
    this.#notifyWait('reach');
    const startedMs = this.#parts.monotonicMs();
    await pauseUnlessCancelled(this.#parts.retryPolicy.withJitter(REACH_PAUSE_MS), this.#signal);
    this.#report('reach', startedMs);
    return true;
  }

  /** Lets other questions use the places that become free meanwhile. */
  async #pauseAfterRefusal(retryAfterMs = 0): Promise<void> {
    const leftMs = (this.#waitPolicy?.untilMs ?? 0) - this.#parts.monotonicMs();
    const pauseMs = Math.min(Math.max(retryAfterMs, MIN_REFUSED_PAUSE_MS), MAX_REFUSED_PAUSE_MS, leftMs);
    if (pauseMs <= 0) return;
    const startedMs = this.#parts.monotonicMs();
    await pauseUnlessCancelled(pauseMs, this.#signal);
    this.#report('capacity', startedMs);
  }

  /** A 503 counts as overload if it has a `Retry-After`, or if the engine serves other calls and retries have not helped. */
  #isLimit({ code, status, retryAfterMs }: ChatError, isLastTry: boolean): boolean {
    if (code === 'chat_rate_limited') return true;
    if (code !== 'chat_server_error' || status !== 503) return false;
    if (retryAfterMs !== undefined) return true;
    return this.#capacity?.isServing === true && (isLastTry || this.#capacity.isLimited);
  }

  async #permit(): Promise<CapacityPermit> {
    if (!this.#waitPolicy || !this.#capacity) return NO_PERMIT;
    const { askedAtMs, untilMs } = this.#waitPolicy;
    const startedMs = this.#parts.monotonicMs();
    const wait = { isNotified: false };
    const waits = () => {
      wait.isNotified = true;
      this.#notifyWait('capacity');
    };
    try {
      return await this.#capacity.enter({ askedAtMs, untilMs, signal: this.#signal, waits });
    } finally {
      if (wait.isNotified) this.#report('capacity', startedMs);
    }
  }

  /** Waits for the breaker. @returns whether the question may request admission again */
  async #waitForBreaker(open: ChatError): Promise<boolean> {
    return (
      this.#waitPolicy !== undefined &&
      !this.#hasFallback &&
      !NEEDS_OPERATOR.has(open.openedBy ?? open.code) &&
      this.#waitUntilAdmitted(open)
    );
  }

  async #waitUntilAdmitted(error: ChatError): Promise<boolean> {
    const reason = (error.openedBy ?? error.code) === 'chat_loading' ? 'loading' : 'reach';
    if (!this.#isInTime(reason)) return false;
    this.#notifyWait(reason);
    const startedMs = this.#parts.monotonicMs();
    const mayEnter = await this.#breaker.mayEnter(this.#untilMs(reason), this.#signal);
    this.#report(reason, startedMs);
    throwIfCancelled(this.#signal);
    return mayEnter;
  }

  /**
   * A question waits until its own deadline for a model that is loading, but at most `awayMs` for an unreachable service.
   */
  #untilMs(reason: WaitReason): number {
    const { monotonicMs, limits } = this.#parts;
    const untilMs = this.#waitPolicy?.untilMs ?? 0;
    if (reason === 'loading') return untilMs;
    this.#awaySinceMs ??= monotonicMs();
    return Math.min(untilMs, this.#awaySinceMs + limits.awayMs);
  }

  #isInTime(reason: WaitReason): boolean {
    return this.#parts.monotonicMs() < this.#untilMs(reason);
  }

  #notifyWait(reason: WaitReason): void {
    if (this.#notifiedReason !== reason) this.#waitPolicy?.waits(reason);
    this.#notifiedReason = reason;
  }

  #report(reason: WaitReason, startedMs: number): void {
    const { model, trace } = this.#request;
    this.#parts.report.waited({ model, trace, reason, waitMs: this.#parts.monotonicMs() - startedMs });
  }
}

/** @throws ChatError `chat_cancelled` */
export async function pauseUnlessCancelled(waitMs: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(waitMs, undefined, { signal });
  } catch {
    throw new ChatError('chat_cancelled', 'The chat call was cancelled');
  }
}

/** @throws ChatError `chat_cancelled` */
export function throwIfCancelled({ aborted }: AbortSignal): void {
  if (aborted) throw new ChatError('chat_cancelled', 'The chat call was cancelled');
}
