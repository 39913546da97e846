import { monotonicMs, SECOND_MS } from '../../shared/clock.ts';
import { FENCE_HOLDS_MS, type PushReplies, type PushResult, type ReplyTraits } from '../platforms/platform.ts';
import type { Refusal } from '../platforms/write-meaning.ts';
import { type ReplySnapshot } from '../domain/reply.ts';
import type { DeliveryId } from '../domain/ids.ts';
import { LostPost } from './reconcile-post.ts';
import { postKeyOf, type PostLedger, type PostState } from './post-ledger.ts';

export interface PostedMessageOptions {
  push: PushReplies;
  target: string;
  ledger: Omit<PostLedger, 'known'>;
  deliveryId: DeliveryId;
  traits: Pick<ReplyTraits, 'lookUpAfterMs' | 'postSettlesWithinMs'>;
  /** From 0; a long answer spans several messages. */
  part: number;
  /** Whether a worker had begun the turn before: what it sent last may still be carried out. */
  wasBegun: boolean;
  /** Whether this worker's lock cannot have run out yet, not even if the process was frozen meanwhile. */
  isClaimHeld(): boolean;
  /** The monotonic clock, unless told. */
  nowMs?: () => number;
}

/** So long until a platform is asked again that takes no calls until its operator mends the app. */
const UNAUTHORISED_PAUSE_MS = 2 * SECOND_MS;

/** What became of bringing a message to a snapshot. `wait`: it does not stand there yet, try again after the pause. */
export type PostedMessageResult =
  | { result: 'shown' | 'stopped' | 'fenced' }
  | { result: 'refused'; why: Refusal }
  | { result: 'wait'; pauseMs: number; why: 'busy' | 'uncertain' | 'unauthorised' };

/**
 * One visible message of an answer. Before anything leaves, the fence is asked and the ledger told; a post whose fate is
 * unknown is looked up before anything is posted again (SECURITY.md fence, noted-before-posted, looked-up-not-repeated, whole-texts).
 */
export class PostedMessage {
  readonly #options: PostedMessageOptions;
  readonly #postKey: string;
  readonly #nowMs: () => number;
  #handle: string | undefined;
  /** What this process knows to stand in the message. */
  #shown: string | undefined;
  /** It is known that nothing was posted, so that nothing need be looked up. */
  #isUnsent = false;
  #hasPosted = false;
  /** Made once a post is lost, which few are. */
  #lost: LostPost | undefined;
  /** A post or an edit of an unknown fate, or another worker's, may still be carried out: this one's message is not alone for certain. */
  #mayBeLate = false;
  /** Where the message stands, while that is not written down. */
  #unrecorded: string | undefined;
  /** The message that is left, while that is not noted. */
  #leaving: string | undefined;
  readonly #left = new Set<string>();
  /** The fence and the ledger's answer, asked before there was anything to post; `failed` when nothing came back. */
  #prepared: Promise<PostState | undefined | 'failed'> | undefined;
  #preparedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: PostedMessageOptions) {
    this.#options = options;
    this.#postKey = postKeyOf(options.deliveryId, options.part);
    this.#nowMs = options.nowMs ?? monotonicMs;
  }

  /** Where the message stands, if only this process knows so far: for the commit, which writes it down as well. */
  get unrecorded(): string | undefined {
    return this.#unrecorded;
  }

  get handle(): string | undefined {
    return this.#handle;
  }

  /**
   * Where the message stands, for whoever wants to take it away. Asks the fence. `nothing`: none stands or will. `unclear`: a call of an
   * unknown fate is under way, or this worker has lost its claim.
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

  /**
   * The message has its last snapshot. Where a call of an unknown fate may still be carried out, this is to be run once that is over:
   * it takes away what turned up besides, and lays the last snapshot over what an edit that came late has left.
   * @returns undefined where nothing can come any more
   */
  lookAfter(
    snapshot: Omit<ReplySnapshot, 'shown'>,
  ): ((isStanding: (handle: string) => Promise<boolean>) => Promise<void>) | undefined {
    const { push, target } = this.#options;
    const handle = this.#handle;
    if (!this.#mayBeLate || handle === undefined) return undefined;
    return async (isStanding) => {
      if (!(await isStanding(handle))) return;
      const found = this.#lostPost().without(await push.find(target, this.#postKey));
      if (found !== 'unknown') await this.#lostPost().takeAway(found, handle);
      if (await isStanding(handle)) await push.update(handle, snapshot, this.#postKey);
    };
  }

  /**
   * The platform takes no more of this message: the next snapshot is posted as a new one, and the ledger knows that before it leaves.
   * What is left is taken away by `removeLeft`.
   */
  leaveMessage(): void {
    if (this.#handle === undefined) return;
    this.#leaving = this.#handle;
    this.#left.add(this.#handle);
    this.#handle = this.#shown = this.#unrecorded = undefined;
    this.#isUnsent = true;
  }

  /**
   * Takes away the messages that this part has left, or lays `mark` over one that the platform does not delete. Run once another
   * message stands. @returns whether nothing of them is left to be done
   */
  async removeLeft(mark: string): Promise<boolean> {
    const { push } = this.#options;
    let isDone = true;
    for (const handle of this.#left) {
      const fate = await push.remove(handle, false);
      if (fate === 'left') await push.update(handle, { content: mark, finished: true }, this.#postKey);
      if (fate === 'later') isDone = false;
    }
    return isDone;
  }

  get hasLeft(): boolean {
    return this.#left.size > 0;
  }

  /** Asks the fence and writes `posting` while the first word is still awaited, so that it need not wait for that. */
  prepare(): void {
    const { ledger, part } = this.#options;
    if (this.#handle !== undefined) return;
    if (this.#prepared) return;
    this.#preparedAtMs = this.#nowMs();
    this.#prepared = ledger.begin(part).catch(() => 'failed' as const);
  }

  /** Writes down where the message stands. @returns false when a newer epoch has taken over */
  async record(): Promise<boolean> {
    const handle = this.#unrecorded;
    this.#unrecorded = undefined;
    if (handle === undefined) return true;
    const state = await this.#options.ledger.record(this.#options.part, handle);
    if (state?.kind === 'gone') this.#forgetGone();
    return state !== undefined;
  }

  /** The worker ends here. Writes down where the message stands, or that nothing was posted, for whoever goes on. */
  async leave(): Promise<void> {
    if (this.#unrecorded !== undefined) await this.record();
    const prepared = await this.#prepared;
    const isPrepared = prepared !== undefined && prepared !== 'failed' && prepared.kind === 'unsent';
    if (this.#handle === undefined && (this.#isUnsent || isPrepared))
      await this.#options.ledger.withdraw(this.#options.part);
  }

  /**
   * Tries once to bring the message to this snapshot.
   * @param answer the sealed full answer, if this is its last snapshot
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
        // What a held question's own turn had posted stood before that turn ended.
        this.#mayBeLate ||= this.#options.wasBegun;
      }
      if (this.#handle !== undefined) return this.#update(this.#handle, snapshot);
      // A connection that broke may have sent this worker's own note twice; nothing of it left before.
      const isSentTwice = state.kind === 'posting' && state.isOwn && !this.#hasPosted;
      if (state.kind !== 'posting' || this.#isUnsent || isSentTwice) return this.#open(snapshot);
      this.#mayBeLate = true;
      const fate = await this.#lostPost().lookUp(state.sinceMs);
      if (fate.kind === 'wait') return { result: 'wait', pauseMs: fate.pauseMs, why: 'uncertain' };
      // The fence is asked anew in either case: a look-up may take long.
      if (fate.kind === 'absent') this.#isUnsent = true;
      else this.#handle = this.#unrecorded = fate.handle;
    }
  }

  /**
   * Asks the fence, unless it has been asked just now and nobody can have taken over since: a claim changes hands only after its
   * lock has run out. What leaves is young by the ledger's note of it, too, by which others know what may still come.
   */
  async #begin(answer: string | undefined): Promise<PostState | undefined> {
    const { ledger, part, isClaimHeld } = this.#options;
    const prepared = this.#prepared && (await this.#prepared);
    this.#prepared = undefined;
    if (prepared !== 'failed' && prepared?.kind === 'unsent') this.#isUnsent = true;
    const handle = this.#unrecorded;
    const isAsked = prepared !== undefined && prepared !== 'failed';
    const isFresh = this.#nowMs() - this.#preparedAtMs < FENCE_HOLDS_MS;
    const isNothingToNote = handle === undefined && answer === undefined && this.#leaving === undefined;
    if (isAsked && isFresh && isNothingToNote && isClaimHeld()) return prepared;
    for (;;) {
      const askedMs = this.#nowMs();
      const state = await ledger.begin(part, { handle, answer, isUnsent: this.#isUnsent, left: this.#leaving });
      this.#unrecorded = this.#leaving = undefined;
      for (const left of state?.left ?? []) this.#left.add(left);
      // The answer may have waited while this process was frozen, and another one took over.
      if (!state || this.#nowMs() - askedMs < FENCE_HOLDS_MS) return state;
      if (state.kind === 'unsent') this.#isUnsent = true;
    }
  }

  /** What this worker had posted was taken away as nobody's, since its note of it came too late. */
  #forgetGone(): void {
    this.#handle = this.#shown = this.#unrecorded = undefined;
    this.#isUnsent = this.#mayBeLate = true;
  }

  #lostPost(): LostPost {
    return (this.#lost ??= new LostPost({ ...this.#options, postKey: this.#postKey, left: this.#left }));
  }

  async #open(snapshot: Omit<ReplySnapshot, 'shown'>): Promise<PostedMessageResult> {
    const { push, target } = this.#options;
    this.#isUnsent = false;
    this.#hasPosted = true;
    const posted = await push.open(target, this.#mayBeLate ? { ...snapshot, isRepeat: true } : snapshot, this.#postKey);
    if (posted.result === 'busy' || posted.result === 'unauthorised') this.#isUnsent = true;
    return this.#settle(posted, snapshot);
  }

  async #update(handle: string, snapshot: Omit<ReplySnapshot, 'shown'>): Promise<PostedMessageResult> {
    const known = this.#shown === undefined ? snapshot : { ...snapshot, shown: this.#shown };
    return this.#settle(await this.#options.push.update(handle, known, this.#postKey), snapshot);
  }

  #settle(posted: PushResult, snapshot: Omit<ReplySnapshot, 'shown'>): PostedMessageResult {
    switch (posted.result) {
      case 'sent': {
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
        // What is laid over again need not wait; what was posted is looked for at once, and then again.
        return { result: 'wait', pauseMs: Math.min(SECOND_MS, this.#options.traits.lookUpAfterMs), why: 'uncertain' };
      case 'refused':
        // Nothing was posted, so that nothing need be looked for.
        if (this.#handle === undefined) this.#isUnsent = true;
        return posted;
      case 'stopped':
        return { result: posted.result };
    }
  }
}
