import type { PushedLook, PushReplies } from '../platforms/platform.ts';
import { postKeyOf, type PostLedger } from './post-ledger.ts';

export interface PushedPartOptions {
  push: PushReplies;
  target: string;
  ledger: PostLedger;
  deliveryId: string;
  /** A post that was cut off may still arrive; its fate is looked up so much later. Milliseconds. */
  lookUpAfterMs: number;
  /** From 0; a long answer spans several messages. */
  part: number;
}

/** What became of bringing a message to a look. `wait`: it does not stand there yet, try again after the pause. */
export type PartResult =
  | { result: 'shown' | 'refused' | 'stopped' | 'fenced' }
  | { result: 'wait'; pauseMs: number; why: 'busy' | 'uncertain' };

/**
 * One visible message of an answer. Before anything leaves, the fence is asked and the ledger told; a post whose fate is
 * unknown is looked up before anything is posted again (security.md 4.3 to 4.6).
 */
export class PushedPart {
  readonly #options: PushedPartOptions;
  readonly #postKey: string;
  #handle: string | undefined;
  /** What this process knows to stand in the message. */
  #shown: string | undefined;
  /** The platform said that nothing was posted, so that nothing need be looked up. */
  #isUnsent = false;

  constructor(options: PushedPartOptions) {
    this.#options = options;
    this.#postKey = postKeyOf(options.deliveryId, options.part);
  }

  /** Tries once to bring the message to this look. */
  async bringTo(look: Omit<PushedLook, 'shown'>): Promise<PartResult> {
    const { ledger, part } = this.#options;
    const state = await ledger.begin(part);
    if (!state) return { result: 'fenced' };
    if (state.kind === 'posted') this.#handle ??= state.handle;
    if (state.kind === 'posting' && this.#handle === undefined && !this.#isUnsent) {
      const search = await this.#search();
      if (search) return search;
    }
    return this.#handle === undefined ? this.#open(look) : this.#update(this.#handle, look);
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
    if (posted.result === 'busy') this.#isUnsent = true;
    return this.#settle(posted, look);
  }

  async #update(handle: string, look: Omit<PushedLook, 'shown'>): Promise<PartResult> {
    const known = this.#shown === undefined ? look : { ...look, shown: this.#shown };
    return this.#settle(await this.#options.push.update(handle, known, this.#postKey), look);
  }

  async #settle(
    posted: Awaited<ReturnType<PushReplies['open']>>,
    look: Omit<PushedLook, 'shown'>,
  ): Promise<PartResult> {
    const { ledger, part } = this.#options;
    switch (posted.result) {
      case 'sent': {
        const isMoved = posted.handle !== this.#handle;
        this.#handle = posted.handle;
        this.#shown = look.content;
        return isMoved && !(await ledger.record(part, posted.handle)) ? { result: 'fenced' } : { result: 'shown' };
      }
      case 'busy':
        return { result: 'wait', pauseMs: posted.retryAfterMs, why: 'busy' };
      case 'uncertain':
        this.#shown = undefined;
        return { result: 'wait', pauseMs: this.#options.lookUpAfterMs, why: 'uncertain' };
      case 'refused':
      case 'stopped':
        return { result: posted.result };
    }
  }
}
