import type { Job } from 'bullmq';
import { inBackground } from '../../shared/in-background.ts';
import { monotonicMs, SECOND_MS } from '../../shared/clock.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { QueueReport } from './queue-report.ts';
import { CLAIM_LIFE_MS, type Renewed, type TurnStore } from './turn-store.ts';
import { type TurnClaim } from '../domain/turn.ts';
import type { WakeJob } from './wake-queue.ts';

/**
 * Life of BullMQ's lock on a wake: a dead worker's turn goes on elsewhere after about ten seconds, not after BullMQ's sixty.
 * It outlives the claim, so that whoever is given the wake then may claim the turn at once.
 */
export const LOCK_MS = CLAIM_LIFE_MS + SECOND_MS;
/** So long after a renewal was sent nobody can have claimed the turn: the rest is room for clocks that run unevenly. */
const SURELY_HELD_MS = CLAIM_LIFE_MS - 2 * SECOND_MS;
/** Twice within a claim's life, and below the sweeper's patience. */
const RENEW_EVERY_MS = 4 * SECOND_MS;

export interface TurnLeaseOptions {
  job: Job<WakeJob>;
  /** BullMQ's name for this taking of the job: two takings of one job are told apart by it. */
  token: string;
  store: TurnStore;
  report: QueueReport;
  /** A renewal found that the claim is not ours any more. */
  onFenced(): void;
  /** A renewal came through, with the stops that it found. */
  onRenewed(claim: TurnClaim, renewed: Renewed): void;
}

/**
 * Keeps a turn this worker's while it runs: BullMQ's lock on its wake and the claim on its conversation, renewed in one
 * write by one timer. The claim decides; the lock only makes BullMQ hand the wake of a dead worker on.
 *
 * BullMQ's own renewal is switched off: it knows a job by its id alone, so that the first run of a job ends the renewal
 * of a second one, and it compares wall clocks, which may be set back.
 */
export class TurnLease {
  readonly #options: TurnLeaseOptions;
  readonly #timer: NodeJS.Timeout;
  #claim: TurnClaim | undefined;
  #isLockLost = false;
  #isRenewing = false;
  /** By the monotonic clock. */
  #heldUntilMs = Number.NEGATIVE_INFINITY;

  /** Renews the lock from now on. */
  constructor(options: TurnLeaseOptions) {
    this.#options = options;
    // What a renewal could not do, the next one does; an answer must not end by it.
    this.#timer = setInterval(() => inBackground(() => this.#renewBoth()), RENEW_EVERY_MS);
  }

  /** Whether nobody can have claimed the turn yet, not even if this process was frozen meanwhile. */
  isSurelyHeld(): boolean {
    return monotonicMs() < this.#heldUntilMs;
  }

  /**
   * Claims the conversation's turn. A claim of which the answer came so late that it may have run out on its way is
   * asked for again, so that a turn never begins under a claim that another worker has taken meanwhile.
   * @returns undefined when nothing waits, or when another worker's claim is alive
   * @throws EntryError, MissingKeyError and whatever the connection throws, as `TurnStore.begin`
   */
  async begin(conversation: ConversationRef): Promise<TurnClaim | undefined> {
    const sentMs = monotonicMs();
    const claim = await this.#options.store.begin(conversation);
    if (!claim) return undefined;
    this.#claim = claim;
    this.#heldUntilMs = sentMs + SURELY_HELD_MS;
    while (!this.isSurelyHeld()) if (!(await this.renew())) return undefined;
    return claim;
  }

  /** Renews the claim and asks the fence. @returns false when it is not ours any more. @throws whatever the connection throws */
  async renew(): Promise<boolean> {
    const claim = this.#claim;
    if (!claim) return false;
    const sentMs = monotonicMs();
    const renewed = await this.#options.store.renew(claim);
    if (!renewed) {
      this.#heldUntilMs = Number.NEGATIVE_INFINITY;
      this.#options.onFenced();
      return false;
    }
    this.#heldUntilMs = Math.max(this.#heldUntilMs, sentMs + SURELY_HELD_MS);
    this.#options.onRenewed(claim, renewed);
    return true;
  }

  /** Renews nothing any more, and holds nothing. */
  end(): void {
    clearInterval(this.#timer);
    this.#heldUntilMs = Number.NEGATIVE_INFINITY;
    this.#claim = undefined;
  }

  /** The claim first: whoever gets the wake of a lock that ran out must find the claim run out too. */
  async #renewBoth(): Promise<void> {
    // While Redis is away or refuses writes a renewal waits for it; more of them would only wait beside it.
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    try {
      await Promise.all([this.#claim && this.renew(), this.#renewLock()]);
    } finally {
      this.#isRenewing = false;
    }
  }

  async #renewLock(): Promise<void> {
    const { job, token, report } = this.#options;
    if (this.#isLockLost || (await job.extendLock(token, LOCK_MS)) !== 0) return;
    // Somebody else may be given the wake; while the claim is renewed they leave the turn alone.
    this.#isLockLost = true;
    report.lockRenewalFailed({ jobs: 1 });
  }
}
