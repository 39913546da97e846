import { monotonicMs, SECOND_MS } from '../../shared/clock.ts';
import { FENCE_VALID_MS, type PushReplies, type PushResult, type ReplyTraits } from '../platforms/platform.ts';
import type { Refusal } from '../platforms/write-meaning.ts';
import { type ReplySnapshot } from '../domain/reply.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { TurnTrace } from '../domain/turn-trace.ts';
import { doubtedAgeMs, PostReconciler } from './reconcile-post.ts';
import { postKeyOf, type PostLedger, type PostState } from './post-ledger.ts';

export interface PostedMessageOptions {
  push: PushReplies;
  target: string;
  ledger: Omit<PostLedger, 'known'>;
  deliveryId: DeliveryId;
  traits: Pick<ReplyTraits, 'lookUpAfterMs' | 'postSettlesWithinMs'>;
  /** Number of the message within the answer, from 0; a long answer spans several messages. */
  part: number;
  /** Whether an earlier worker started the turn. Its last call may still be carried out. */
  wasBegun: boolean;
  /** Whether this worker's lock is certainly still held, even if the process was frozen meanwhile. */
  isClaimHeld(): boolean;
  /** Absent after the end of the turn. */
  trace?: Pick<TurnTrace, 'count'>;
  /** Monotonic clock. Defaults to the process's clock. */
  nowMs?: () => number;
}

/** Pause before the next call while the platform refuses all calls until the operator repairs the app. */
const UNAUTHORISED_PAUSE_MS = 2 * SECOND_MS;

/** Time after which an unused early note of a post is withdrawn: the fence check made with it is no longer valid. */
const PREPARED_FOR_MS = FENCE_VALID_MS;

/**
 * Outcome of an attempt to show a snapshot. `wait`: it is not shown yet; retry after the pause. `settling`: the platform
 * answered, but a post may still appear.
 */
export type PostedMessageResult =
  | { result: 'shown' | 'stopped' | 'fenced' }
  | { result: 'refused'; why: Refusal }
  | { result: 'wait'; pauseMs: number; why: 'busy' | 'uncertain' | 'settling' | 'unauthorised' };

/**
 * One visible message of an answer. Each call checks the fence and writes the ledger first; a post of unknown fate is
 * looked up before a new one (SECURITY.md fence, noted-before-posted, looked-up-not-repeated, whole-texts).
 */
export class PostedMessage {
  readonly #options: PostedMessageOptions;
  readonly #postKey: string;
  readonly #nowMs: () => number;
  #handle: string | undefined;
  /** Last content that this process knows the message to show. */
  #shown: string | undefined;
  /** Nothing was posted, so no lookup is needed. */
  #isUnsent = false;
  #hasPosted = false;
  /** When the platform itself reported an unknown fate of this worker's post. */
  #answeredAtMs: number | undefined;
  /** Created only when the fate of a post is unknown, which is rare. */
  #lost: PostReconciler | undefined;
  /** Whether an uncertain call, or one of another worker, may still be carried out and change or duplicate this message. */
  #mayBeLate = false;
  /** Handle that is not recorded yet. */
  #unrecorded: string | undefined;
  /** Abandoned handle that is not recorded yet. */
  #leaving: string | undefined;
  readonly #left = new Set<string>();
  /** Early result of the fence and the ledger; `failed` if the call failed. */
  #prepared: Promise<PostState | undefined | 'failed'> | undefined;
  #preparedAtMs = Number.NEGATIVE_INFINITY;
  /** Timer that clears the early note. */
  #withdrawal: NodeJS.Timeout | undefined;

  constructor(options: PostedMessageOptions) {
    this.#options = options;
    this.#postKey = postKeyOf(options.deliveryId, options.part);
    this.#nowMs = options.nowMs ?? monotonicMs;
  }

  /** Handle that only this process knows so far, for the commit to record. */
  get unrecorded(): string | undefined {
    return this.#unrecorded;
  }

  get handle(): string | undefined {
    return this.#handle;
  }

  /**
   * The message to remove, if there is one. Checks the fence. `nothing`: no message exists or will appear. `unclear`: a call
   * of unknown fate is in flight, or this worker has lost its claim.
   */
  async standing(): Promise<'nothing' | 'unclear' | { handle: string }> {
    const state = await this.#begin(undefined);
    if (!state || state.kind === 'gone' || this.#mayBeLate) return 'unclear';
    if (this.#handle !== undefined) return { handle: this.#handle };
    const isOwnNote = state.kind === 'posting' && (this.#isUnsent || (state.isOwn && !this.#hasPosted));
    if (state.kind !== 'unsent' && !isOwnNote) return 'unclear';
    await this.#options.ledger.withdraw(this.#options.part);
    return 'nothing';
  }

  /** Whether a call of unknown fate may still change or duplicate this message. */
  get mayStillChange(): boolean {
    return this.#mayBeLate;
  }

  /**
   * Abandons this message, which the platform no longer edits. The next snapshot is posted as a new message, after the
   * ledger has recorded the change.
   */
  abandonMessage(): void {
    if (this.#handle === undefined) return;
    this.#leaving = this.#handle;
    this.#left.add(this.#handle);
    this.#handle = this.#shown = this.#unrecorded = undefined;
    this.#isUnsent = true;
  }

  /** Handles that this part has abandoned. */
  get left(): readonly string[] {
    return [...this.#left];
  }

  /**
   * Checks the fence and records `posting` before the first text arrives, so that the first post does not wait for either.
   */
  prepare(): void {
    const { ledger, part } = this.#options;
    if (this.#handle !== undefined) return;
    if (this.#prepared) return;
    this.#preparedAtMs = this.#nowMs();
    const prepared = ledger.begin(part).catch(() => 'failed' as const);
    this.#prepared = prepared;
    this.#withdrawal = setTimeout(() => {
      if (this.#prepared === prepared) this.#prepared = this.#withdrawPrepared(prepared);
    }, PREPARED_FOR_MS).unref();
  }

  /**
   * Clears the early note while a model thinks for long. If this worker then dies, the next one does not search for a post
   * that was never sent.
   */
  async #withdrawPrepared(prepared: Promise<PostState | undefined | 'failed'>): Promise<'failed'> {
    const state = await prepared;
    if (state !== 'failed' && state?.kind === 'unsent') await this.#withdraw();
    return 'failed';
  }

  /** Nothing was posted. If the note stays because Redis is unavailable, the next worker looks for the post. */
  async #withdraw(): Promise<void> {
    await this.#options.ledger.withdraw(this.#options.part).catch(() => undefined);
  }

  /** Records the handle. @returns false if a newer epoch has taken over */
  async record(): Promise<boolean> {
    const handle = this.#unrecorded;
    this.#unrecorded = undefined;
    if (handle === undefined) return true;
    const state = await this.#options.ledger.record(this.#options.part, handle);
    if (state?.kind === 'gone') this.#forgetGone();
    return state !== undefined;
  }

  /** Called when this worker releases the turn. Records the handle, or that nothing was posted, for the next worker. */
  async leave(): Promise<void> {
    clearTimeout(this.#withdrawal);
    if (this.#unrecorded !== undefined) await this.record();
    const prepared = await this.#prepared;
    const isPrepared = prepared !== undefined && prepared !== 'failed' && prepared.kind === 'unsent';
    if (this.#handle === undefined && !this.#mayBeLate && (this.#isUnsent || isPrepared))
      await this.#options.ledger.withdraw(this.#options.part);
  }

  /**
   * Makes one attempt to show this snapshot in the message. @param answer the sealed full answer, set with its final
   * snapshot
   */
  async sync(snapshot: Omit<ReplySnapshot, 'shown'>, answer?: string): Promise<PostedMessageResult> {
    for (;;) {
      const state = await this.#begin(answer);
      if (!state) return { result: 'fenced' };
      if (state.kind === 'gone') {
        this.#forgetGone();
        continue;
      }
      if (state.kind === 'posted' && this.#handle === undefined) {
        this.#handle = state.handle;
        // The turn that first held this question posted its message before that turn ended.
        this.#mayBeLate ||= this.#options.wasBegun;
      }
      if (this.#handle !== undefined) return this.#update(this.#handle, snapshot);
      // A broken connection may have sent this worker's note twice; no post was sent before the note.
      const isSentTwice = state.kind === 'posting' && state.isOwn && !this.#hasPosted;
      if (state.kind !== 'posting' || this.#isUnsent || isSentTwice) return this.#open(snapshot);
      this.#mayBeLate = true;
      const fate = await this.#postReconciler().lookUp(Math.max(state.sinceMs, this.#endedSinceMs()));
      if (fate.kind === 'wait')
        return { result: 'wait', pauseMs: fate.pauseMs, why: fate.isLookedUp ? 'settling' : 'uncertain' };
      // The fence is checked again in either case, because a lookup may take long.
      if (fate.kind === 'absent') this.#isUnsent = true;
      else this.#handle = this.#unrecorded = fate.handle;
    }
  }

  /**
   * Checks the fence and notes the post in the ledger, unless `prepare` has just done so and this worker certainly still has
   * the claim. The time of the note tells other workers how long the post may still take to arrive.
   */
  async #begin(answer: string | undefined): Promise<PostState | undefined> {
    const { ledger, part, isClaimHeld } = this.#options;
    clearTimeout(this.#withdrawal);
    const prepared = this.#prepared && (await this.#prepared);
    this.#prepared = undefined;
    if (prepared !== 'failed' && prepared?.kind === 'unsent') this.#isUnsent = true;
    const handle = this.#unrecorded;
    const isAsked = prepared !== undefined && prepared !== 'failed';
    const isFresh = this.#nowMs() - this.#preparedAtMs < FENCE_VALID_MS;
    const isNothingToNote = handle === undefined && answer === undefined && this.#leaving === undefined;
    if (isAsked && isFresh && isNothingToNote && isClaimHeld()) return prepared;
    for (;;) {
      const askedMs = this.#nowMs();
      const state = await ledger.begin(part, { handle, answer, isUnsent: this.#isUnsent, left: this.#leaving });
      this.#unrecorded = this.#leaving = undefined;
      for (const left of state?.left ?? []) this.#left.add(left);
      // The process may have been frozen before the result arrived, and another worker may have taken over.
      if (!state || this.#nowMs() - askedMs < FENCE_VALID_MS) return state;
      if (state.kind === 'unsent') this.#isUnsent = true;
    }
  }

  /** Assumed age of a post whose call has ended with an unknown fate. Milliseconds. */
  #endedSinceMs(): number {
    const { traits } = this.#options;
    return this.#answeredAtMs === undefined ? 0 : doubtedAgeMs(traits) + this.#nowMs() - this.#answeredAtMs;
  }

  /** This worker's post was removed as unowned because its note was written too late. */
  #forgetGone(): void {
    this.#handle = this.#shown = this.#unrecorded = undefined;
    this.#isUnsent = this.#mayBeLate = true;
  }

  #postReconciler(): PostReconciler {
    return (this.#lost ??= new PostReconciler({ ...this.#options, postKey: this.#postKey, left: this.#left }));
  }

  async #open(snapshot: Omit<ReplySnapshot, 'shown'>): Promise<PostedMessageResult> {
    const { push, target } = this.#options;
    this.#isUnsent = false;
    this.#hasPosted = true;
    this.#answeredAtMs = undefined;
    const posted = await push.open(target, this.#mayBeLate ? { ...snapshot, isRepeat: true } : snapshot, this.#postKey);
    if (posted.result === 'busy' || posted.result === 'unauthorised' || posted.result === 'refused') {
      this.#isUnsent = true;
      // A worker that takes over during the pause need not look for the post. An earlier one may still appear, though.
      if (!this.#mayBeLate) await this.#withdraw();
    }
    if (posted.result === 'uncertain' && posted.isAnswered === true) this.#answeredAtMs = this.#nowMs();
    return this.#settle(posted, snapshot);
  }

  async #update(handle: string, snapshot: Omit<ReplySnapshot, 'shown'>): Promise<PostedMessageResult> {
    const known = this.#shown === undefined ? snapshot : { ...snapshot, shown: this.#shown };
    return this.#settle(await this.#options.push.update(handle, known, this.#postKey), snapshot);
  }

  #settle(posted: PushResult, snapshot: Omit<ReplySnapshot, 'shown'>): PostedMessageResult {
    if (posted.isContentUnknown === true) this.#shown = undefined;
    switch (posted.result) {
      case 'sent': {
        this.#options.trace?.count(this.#handle === undefined ? 'p' : 'e');
        if (posted.handle !== this.#handle) this.#unrecorded = posted.handle;
        this.#handle = posted.handle;
        this.#shown = snapshot.content;
        return { result: 'shown' };
      }
      case 'busy':
        return { result: 'wait', pauseMs: posted.retryAfterMs, why: 'busy' };
      case 'unauthorised':
        return { result: 'wait', pauseMs: UNAUTHORISED_PAUSE_MS, why: 'unauthorised' };
      case 'uncertain':
        this.#shown = undefined;
        this.#mayBeLate = true;
        // An edit can be repeated without a wait. A post is looked up at once, and then again.
        return { result: 'wait', pauseMs: Math.min(SECOND_MS, this.#options.traits.lookUpAfterMs), why: 'uncertain' };
      case 'refused':
        return { result: 'refused', why: posted.why };
      case 'stopped':
        return { result: posted.result };
    }
  }
}
