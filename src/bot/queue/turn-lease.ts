import { setTimeout as pause } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { abortable } from '../../shared/abortable.ts';
import { inBackground } from '../../shared/in-background.ts';
import { monotonicMs, SECOND_MS } from '../../shared/clock.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { QueueReport } from './queue-report.ts';
import { CLAIM_LIFE_MS, type RenewResult, type TurnStore } from './turn-store.ts';
import { type TurnClaim } from '../domain/turn.ts';
import type { WakeJob } from './wake-queue.ts';

/**
 * Life of BullMQ's lock on a wake: another worker continues a dead worker's turn after about ten seconds, not after BullMQ's
 * sixty. It outlives the claim, so that the next worker with the wake can claim the turn at once.
 */
export const LOCK_MS = CLAIM_LIFE_MS + SECOND_MS;
/** A worker that has not registered for this long is silent, and its claims are taken over (worker-presence.ts). */
export const SILENT_MS = 6 * SECOND_MS;
/** The claim of a silent worker is left alone if it was renewed within this time. */
export const SILENT_CLAIM_MS = SILENT_MS - SECOND_MS / 2;
/**
 * For this long after a renewal was sent, no other worker can have claimed the turn. The margin covers clocks that run
 * unevenly.
 */
const SURELY_HELD_MS = SILENT_CLAIM_MS - 2 * SECOND_MS;
/** Shorter than the time for which a renewed claim is surely held. */
const RENEW_EVERY_MS = 3 * SECOND_MS;
/** Pause after a confirmation that Redis refused. */
const CONFIRM_AGAIN_MS = SECOND_MS / 2;

/** BullMQ's lock on a wake. */
export interface WakeLock {
  job: Job<WakeJob>;
  /** BullMQ's token of this fetch, which distinguishes two fetches of one job. */
  token: string;
}

export interface TurnLeaseOptions {
  /** Absent for a turn that runs without a wake of the queue. */
  lock: WakeLock | undefined;
  store: TurnStore;
  report: QueueReport;
  /** A renewal found that the claim is lost. */
  onFenced(): void;
  /** A renewal succeeded, with the stops that it found. */
  onRenewed(claim: TurnClaim, renewed: RenewResult): void;
}

/**
 * Holds a turn for this worker while it runs: BullMQ's lock on the wake and the claim on the conversation, renewed in one
 * write by one timer. The claim decides; the lock only makes BullMQ pass on the wake of a dead worker.
 *
 * BullMQ's own renewal is disabled for two reasons: it identifies a job by its id alone, so the end of a job's first run
 * also ends the renewal of its second run; and it compares wall clocks, which may be set back.
 */
export class TurnLease {
  readonly #options: TurnLeaseOptions;
  readonly #timer: NodeJS.Timeout;
  #lock: WakeLock | undefined;
  #outlivesWake = false;
  #claim: TurnClaim | undefined;
  #isLockLost = false;
  #isRenewing = false;
  /** How long the claim took, for its span. */
  #claimMs = 0;
  /** On the monotonic clock. */
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  /** Later than `#heldUntilMs` only while Redis is slow. On the monotonic clock. */
  #confirmedUntilMs = Number.NEGATIVE_INFINITY;

  /** Starts renewing the lock. */
  constructor(options: TurnLeaseOptions) {
    this.#options = options;
    this.#lock = options.lock;
    // A failed renewal is retried by the next one and must not end the answer.
    this.#timer = setInterval(() => inBackground(() => this.#renewBoth()), RENEW_EVERY_MS);
  }

  /** How long the claim took. Milliseconds. */
  get claimMs(): number {
    return this.#claimMs;
  }

  /** Whether no other worker can have claimed the turn yet, even if this process was frozen meanwhile. */
  isCertainlyHeld(): boolean {
    return monotonicMs() < this.#heldUntilMs;
  }

  /**
   * The connection to Redis is lost: other workers may count this one as dead and take the turn at once. Until a renewal
   * succeeds, nothing is certain.
   */
  doubt(): void {
    this.#heldUntilMs = this.#confirmedUntilMs = Number.NEGATIVE_INFINITY;
  }

  /**
   * Claims the conversation's turn. If the answer arrives so late that the claim may have expired, the claim is renewed
   * first, so that a turn never begins under a claim that another worker has taken.
   * @returns undefined if nothing waits or another worker's claim is active
   * @throws EntryError, MissingKeyError and the connection's errors, as `TurnStore.begin`
   */
  async begin(conversation: ConversationRef): Promise<TurnClaim | undefined> {
    const sentMs = monotonicMs();
    const claim = await this.#options.store.begin(conversation, this.#lock?.job.timestamp);
    if (!claim) return undefined;
    this.#claim = claim;
    this.#claimMs = claim.claimedAtMs - sentMs;
    this.#heldUntilMs = sentMs + SURELY_HELD_MS;
    while (!this.isCertainlyHeld()) if (!(await this.renew())) return undefined;
    return claim;
  }

  /** Renews the claim and checks the fence. @returns false if the claim is lost. @throws the connection's errors */
  async renew(): Promise<boolean> {
    const claim = this.#claim;
    if (!claim) return false;
    const sentMs = monotonicMs();
    const renewed = await this.#options.store.renew(claim);
    if (!renewed) {
      this.doubt();
      this.#options.onFenced();
      return false;
    }
    this.#heldUntilMs = Math.max(this.#heldUntilMs, sentMs + SURELY_HELD_MS);
    this.#options.onRenewed(claim, renewed);
    return true;
  }

  /**
   * @returns undefined while the claim is held; otherwise settles once Redis has confirmed it, it is lost, or the signal
   * aborts. A renewal confirms if it is answered before another worker may take the claim that it renewed.
   */
  confirm(signal: AbortSignal): Promise<void> | undefined {
    if (!this.#claim || this.isCertainlyHeld() || monotonicMs() < this.#confirmedUntilMs) return undefined;
    return this.#confirm(signal);
  }

  async #confirm(signal: AbortSignal): Promise<void> {
    while (this.#claim && !signal.aborted) {
      const sentMs = monotonicMs();
      try {
        if (!(await abortable(this.renew(), signal))) return;
        this.#confirmedUntilMs = sentMs + SILENT_CLAIM_MS;
        if (monotonicMs() < this.#confirmedUntilMs) return;
      } catch {
        await pause(CONFIRM_AGAIN_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Keeps the claim after its wake has ended, until `end`. */
  outliveWake(): void {
    this.#lock = undefined;
    this.#outlivesWake = true;
  }

  /** The wake has ended, and the claim with it unless it outlives its wake. */
  endWake(): void {
    if (!this.#outlivesWake) this.end();
  }

  /** Stops renewing and holds nothing any more. */
  end(): void {
    clearInterval(this.#timer);
    this.doubt();
    this.#claim = undefined;
  }

  /** Renews the claim first: a worker that gets the wake of an expired lock must find the claim expired too. */
  async #renewBoth(): Promise<void> {
    // While Redis is unavailable or refuses writes, one renewal waits for it; more would only wait beside it.
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    try {
      await Promise.all([this.#claim && this.renew(), this.#renewLock()]);
    } finally {
      this.#isRenewing = false;
    }
  }

  async #renewLock(): Promise<void> {
    const { report } = this.#options;
    const lock = this.#lock;
    if (!lock || this.#isLockLost || (await lock.job.extendLock(lock.token, LOCK_MS)) !== 0) return;
    // Another worker may get the wake, but leaves the turn alone while the claim is renewed.
    this.#isLockLost = true;
    report.lockRenewalFailed({ jobs: 1 });
  }
}
