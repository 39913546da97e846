import { monotonicMs, SECOND_MS } from '../base/clock.ts';
import { FENCE_HOLDS_MS, type PushedLook, type PushReplies, type PushResult } from '../platforms/platform.ts';
import { postKeyOf, type PostLedger, type PostState } from './post-ledger.ts';

export interface PushedPartOptions {
  push: PushReplies;
  target: string;
  ledger: PostLedger;
  deliveryId: string;
  /** A post that was cut off may still arrive; its fate is looked up so much later. Milliseconds. */
  lookUpAfterMs: number;
  /** From 0; a long answer spans several messages. */
  part: number;
  /** Whether this worker's lock cannot have run out yet, not even if the process was frozen meanwhile. */
  isClaimHeld(): boolean;
  /** The monotonic clock, unless told. */
  nowMs?: () => number;
}

/** So long until a platform is asked again that takes no calls until its operator mends the app. */
const UNAUTHORISED_PAUSE_MS = 2 * SECOND_MS;

/** What became of bringing a message to a look. `wait`: it does not stand there yet, try again after the pause. */
export type PartResult =
  | { result: 'shown' | 'refused' | 'stopped' | 'fenced' }
  | { result: 'wait'; pauseMs: number; why: 'busy' | 'uncertain' | 'unauthorised' };

/**
 * One visible message of an answer. Before anything leaves, the fence is asked and the ledger told; a post whose fate is
 * unknown is looked up before anything is posted again (security.md 4.3 to 4.6).
 */
export class PushedPart {
  readonly #options: PushedPartOptions;
  readonly #postKey: string;
  readonly #nowMs: () => number;
  #handle: string | undefined;
  /** What this process knows to stand in the message. */
  #shown: string | undefined;
  /** It is known that nothing was posted, so that nothing need be looked up. */
  #isUnsent = false;
  /** Where the message stands, while that is not written down. */
  #unrecorded: string | undefined;
  /** The fence and the ledger's answer, asked before there was anything to post; `failed` when nothing came back. */
  #prepared: Promise<PostState | undefined | 'failed'> | undefined;

  constructor(options: PushedPartOptions) {
    this.#options = options;
    this.#postKey = postKeyOf(options.deliveryId, options.part);
    this.#nowMs = options.nowMs ?? monotonicMs;
  }

  /** Where the message stands, if only this process knows so far: for the commit, which writes it down as well. */
  get unrecorded(): string | undefined {
    return this.#unrecorded;
  }

  /** Asks the fence and writes `posting` while the first word is still awaited, so that it need not wait for that. */
  prepare(): void {
    const { ledger, part } = this.#options;
    if (this.#handle !== undefined) return;
    this.#prepared ??= ledger.begin(part).catch(() => 'failed' as const);
  }

  /** Writes down where the message stands. @returns false when a newer epoch has taken over */
  async record(): Promise<boolean> {
    const handle = this.#unrecorded;
    this.#unrecorded = undefined;
    return handle === undefined || this.#options.ledger.record(this.#options.part, handle);
  }

  /**
   * Tries once to bring the message to this look.
   * @param answer the sealed full answer, if this is its last look
   */
  async bringTo(look: Omit<PushedLook, 'shown'>, answer?: string): Promise<PartResult> {
    const state = await this.#begin(answer);
    if (!state) return { result: 'fenced' };
    if (state.kind === 'posted') this.#handle ??= state.handle;
    if (state.kind === 'posting' && this.#handle === undefined && !this.#isUnsent) {
      const beganMs = this.#nowMs();
      const search = await this.#search();
      if (search) return search;
      // The fence is asked anew after a search that took long; what it found need not be searched again.
      this.#isUnsent = true;
      if (this.#nowMs() - beganMs >= FENCE_HOLDS_MS) return { result: 'wait', pauseMs: 0, why: 'uncertain' };
    }
    return this.#handle === undefined ? this.#open(look) : this.#update(this.#handle, look);
  }

  /**
   * Asks the fence, unless it has been asked and nobody can have taken over since: a claim changes hands only after its lock
   * has run out.
   */
  async #begin(answer: string | undefined): Promise<PostState | undefined> {
    const { ledger, part, isClaimHeld } = this.#options;
    const prepared = this.#prepared && (await this.#prepared);
    this.#prepared = undefined;
    if (prepared !== 'failed' && prepared?.kind === 'unsent') this.#isUnsent = true;
    const handle = this.#unrecorded;
    const isAsked = prepared !== undefined && prepared !== 'failed';
    if (isAsked && handle === undefined && answer === undefined && isClaimHeld()) return prepared;
    for (;;) {
      const askedMs = this.#nowMs();
      const state = await ledger.begin(part, { handle, answer });
      this.#unrecorded = undefined;
      // The answer may have waited while this process was frozen, and another one took over.
      if (!state || this.#nowMs() - askedMs < FENCE_HOLDS_MS) return state;
      if (state.kind === 'unsent') this.#isUnsent = true;
    }
  }

  /** @returns undefined once it is known whether the message stands */
  async #search(): Promise<PartResult | undefined> {
    const { push, target, ledger, part } = this.#options;
    const found = await push.find(target, this.#postKey);
    if (found === 'unknown') return { result: 'wait', pauseMs: this.#options.lookUpAfterMs, why: 'uncertain' };
    if (found === 'absent') return undefined;
    this.#handle = found.handle;
    return (await ledger.record(part, found.handle)) ? undefined : { result: 'fenced' };
  }

  async #open(look: Omit<PushedLook, 'shown'>): Promise<PartResult> {
    const { push, target } = this.#options;
    this.#isUnsent = false;
    const posted = await push.open(target, look, this.#postKey);
    if (posted.result === 'busy' || posted.result === 'unauthorised') this.#isUnsent = true;
    return this.#settle(posted, look);
  }

  async #update(handle: string, look: Omit<PushedLook, 'shown'>): Promise<PartResult> {
    const known = this.#shown === undefined ? look : { ...look, shown: this.#shown };
    return this.#settle(await this.#options.push.update(handle, known, this.#postKey), look);
  }

  #settle(posted: PushResult, look: Omit<PushedLook, 'shown'>): PartResult {
    switch (posted.result) {
      case 'sent': {
        if (posted.handle !== this.#handle) this.#unrecorded = posted.handle;
        this.#handle = posted.handle;
        this.#shown = look.content;
        return { result: 'shown' };
      }
      case 'busy':
        return { result: 'wait', pauseMs: posted.retryAfterMs, why: 'busy' };
      case 'unauthorised':
        return { result: 'wait', pauseMs: UNAUTHORISED_PAUSE_MS, why: 'unauthorised' };
      case 'uncertain':
        this.#shown = undefined;
        return { result: 'wait', pauseMs: this.#options.lookUpAfterMs, why: 'uncertain' };
      case 'refused':
      case 'stopped':
        return { result: posted.result };
    }
  }
}
