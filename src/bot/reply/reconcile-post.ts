import { SECOND_MS } from '../../shared/clock.ts';
import { FENCE_VALID_MS, type PostLookupResult, type PushReplies, type ReplyTraits } from '../platforms/platform.ts';
import type { PostLedger } from './post-ledger.ts';

export interface LostPostOptions {
  push: Pick<PushReplies, 'find' | 'remove'>;
  target: string;
  ledger: Pick<PostLedger, 'claimStray'>;
  part: number;
  postKey: string;
  traits: Pick<ReplyTraits, 'lookUpAfterMs' | 'postSettlesWithinMs'>;
  /** Messages that the part has abandoned. They are neither its post nor unowned. */
  left: ReadonlySet<string>;
}

/**
 * Maximum time from the ledger's note to the post: the note may precede the fence check, and the post follows the check,
 * each within `FENCE_VALID_MS`.
 */
const LEAVES_WITHIN_MS = 2 * FENCE_VALID_MS;
/** How long to look for a post that was sent before a failover, or whose call has ended. */
const DOUBTED_FOR_MS = 4 * SECOND_MS;
/** Maximum pause for a transient obstacle: another turn's first post, or a message whose deletion failed. */
const SOON_MS = 2 * SECOND_MS;

/** Age of a note from which the platform can no longer carry out the post. Milliseconds. */
export function settledAfterMs({ postSettlesWithinMs }: Pick<ReplyTraits, 'postSettlesWithinMs'>): number {
  return postSettlesWithinMs + LEAVES_WITHIN_MS;
}

/**
 * Assumed age of a post whose note may have been lost in a failover, or of which the platform itself reported an unknown fate.
 * Such a post was sent before the failover, or its call has ended, so it is looked up twice within seconds instead of for the
 * full settling time; otherwise every question that waits during a Redis restart would wait that long. Reconciliation removes
 * a post that appears later (deferred-reconciliation.ts).
 */
export function doubtedAgeMs(traits: Pick<ReplyTraits, 'postSettlesWithinMs'>): number {
  return Math.max(0, settledAfterMs(traits) - DOUBTED_FOR_MS);
}

/** Outcome of a post of unknown fate; `wait`: not known yet; `isLookedUp`: the lookup itself succeeded. */
export type LostPostFate =
  { kind: 'stands'; handle: string } | { kind: 'absent' } | { kind: 'wait'; pauseMs: number; isLookedUp: boolean };

/**
 * Determines whether a post of unknown fate exists. It exists if the platform finds it under its key. It is absent if two
 * lookups, one before and one after the platform can last carry it out, did not find it. It is also absent if a message
 * without a key was certainly this part's post and was removed: such a message never counts as an answer
 * (SECURITY.md looked-up-not-repeated).
 */
export class PostReconciler {
  readonly #options: LostPostOptions;
  #lookups = 0;

  constructor(options: LostPostOptions) {
    this.#options = options;
  }

  /** Makes one lookup. @param sinceMs maximum time since the post was sent */
  async lookUp(sinceMs: number): Promise<LostPostFate> {
    const { push, target, postKey, traits } = this.#options;
    const settledMs = settledAfterMs(traits);
    const found = this.without(await push.find(target, postKey));
    if (found === 'unknown') return { kind: 'wait', pauseMs: traits.lookUpAfterMs, isLookedUp: false };
    const [handle] = found.keyed;
    if (handle !== undefined) return { kind: 'stands', handle };
    const strays = await this.removeOrphans(found);
    if (strays === 'removed') return { kind: 'absent' };
    if (strays === 'doubtful')
      return { kind: 'wait', pauseMs: Math.min(SOON_MS, traits.lookUpAfterMs), isLookedUp: true };
    this.#lookups += 1;
    if (sinceMs >= settledMs && this.#lookups > 1) return { kind: 'absent' };
    const pauseMs = Math.min(traits.lookUpAfterMs, Math.max(settledMs - sinceMs, 0));
    return { kind: 'wait', pauseMs: Math.max(pauseMs, Math.min(SECOND_MS, traits.lookUpAfterMs)), isLookedUp: true };
  }

  /** The found messages except those that the part has abandoned. */
  without(found: PostLookupResult | 'unknown'): PostLookupResult | 'unknown' {
    const { left } = this.#options;
    if (found === 'unknown' || left.size === 0) return found;
    const isLeft = (handle: string) => [...left].some((one) => one === handle || one.startsWith(`${handle}/`));
    const others = (handles: readonly string[]) => handles.filter((handle) => !isLeft(handle));
    return { ...found, keyed: others(found.keyed), orphans: others(found.orphans) };
  }

  /**
   * Removes messages that are not an answer.
   * @param standing handle of the visible message, if there is one
   * @returns `removed` if one of them was certainly a post of this part; `doubtful` if a message to remove may still belong
   * to another turn
   */
  async removeOrphans(
    { keyed, orphans, pendingDeletes }: PostLookupResult,
    standing?: string,
  ): Promise<'removed' | 'doubtful' | 'nothing'> {
    const { push, ledger, part, traits } = this.#options;
    let isMine = false;
    let isDoubtful = false;
    const remove = async (handle: string, isStray: boolean) => {
      const fate = await push.remove(handle, isStray);
      // Before an answer is shown, a refused removal must not hold it up. It is repeated afterwards.
      if (fate === 'later' || (fate === 'refused' && standing !== undefined)) isDoubtful = true;
      return fate === 'gone';
    };
    for (const handle of orphans) {
      const verdict = await ledger.claimStray(part, handle, settledAfterMs(traits));
      if (verdict === 'doubtful') isDoubtful = true;
      if (verdict !== 'mine' && verdict !== 'nobody') continue;
      if ((await remove(handle, true)) && verdict === 'mine') isMine = true;
    }
    const isSame = (handle: string) => standing === handle || standing?.startsWith(`${handle}/`) === true;
    const others = standing === undefined ? [] : keyed.filter((handle) => !isSame(handle));
    for (const handle of [...others, ...pendingDeletes]) await remove(handle, false);
    return isDoubtful ? 'doubtful' : isMine ? 'removed' : 'nothing';
  }
}
