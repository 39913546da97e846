import { SECOND_MS } from '../../shared/clock.ts';
import { FENCE_HOLDS_MS, type FoundPosts, type PushReplies, type ReplyTraits } from '../platforms/platform.ts';
import type { PostLedger } from './post-ledger.ts';

export interface LostPostOptions {
  push: Pick<PushReplies, 'find' | 'remove'>;
  target: string;
  ledger: Pick<PostLedger, 'claimStray'>;
  part: number;
  postKey: string;
  traits: Pick<ReplyTraits, 'lookUpAfterMs' | 'postSettlesWithinMs'>;
  /** Messages that the part has left: they are neither its post nor a stray. */
  left: ReadonlySet<string>;
}

/** A post is written down, then it may use an answer of the fence that is so old, and then it leaves within as long or never does. */
const LEAVES_WITHIN_MS = 2 * FENCE_HOLDS_MS;
/** So long a post is looked for that only a failover's loss makes possible. */
const DOUBTED_FOR_MS = 4 * SECOND_MS;
/** What is gone soon: another turn's first post, or a message that could not be taken away. */
const SOON_MS = 2 * SECOND_MS;

/** From so old a note on, the platform can carry out nothing of what left after it. Milliseconds. */
export function settledAfterMs({ postSettlesWithinMs }: Pick<ReplyTraits, 'postSettlesWithinMs'>): number {
  return postSettlesWithinMs + LEAVES_WITHIN_MS;
}

/**
 * How old a post is taken to be that is only possible because a failover may have taken its note. It left before the failover,
 * so it is looked for twice within moments and not for as long as it might be late: else every question that waits while Redis
 * is started again would wait that long too. One that turns up still later is taken away as all that is late (after-care.ts).
 */
export function doubtedAgeMs(traits: Pick<ReplyTraits, 'postSettlesWithinMs'>): number {
  return Math.max(0, settledAfterMs(traits) - DOUBTED_FOR_MS);
}

/** What became of a post whose fate was unknown; `wait`: that cannot be said yet. */
export type LostPostFate = { kind: 'stands'; handle: string } | { kind: 'absent' } | { kind: 'wait'; pauseMs: number };

/**
 * A post whose fate is unknown. It stands if the platform shows it under its key. It is believed absent only once the platform
 * could no longer carry it out, and had not done so when it was looked up before and after; or once it has turned up without a key, where nobody
 * else can have posted it, and was taken away. A message without a key is never taken for an answer (SECURITY.md looked-up-not-repeated).
 */
export class LostPost {
  readonly #options: LostPostOptions;
  #timesLooked = 0;

  constructor(options: LostPostOptions) {
    this.#options = options;
  }

  /** Looks once. @param sinceMs how long ago the post may have left */
  async lookUp(sinceMs: number): Promise<LostPostFate> {
    const { push, target, postKey, traits } = this.#options;
    const settledMs = settledAfterMs(traits);
    const found = this.without(await push.find(target, postKey));
    if (found === 'unknown') return { kind: 'wait', pauseMs: traits.lookUpAfterMs };
    const [handle] = found.keyed;
    if (handle !== undefined) return { kind: 'stands', handle };
    const strays = await this.takeAway(found);
    if (strays === 'removed') return { kind: 'absent' };
    if (strays === 'doubtful') return { kind: 'wait', pauseMs: Math.min(SOON_MS, traits.lookUpAfterMs) };
    this.#timesLooked += 1;
    if (sinceMs >= settledMs && this.#timesLooked > 1) return { kind: 'absent' };
    const pauseMs = Math.min(traits.lookUpAfterMs, Math.max(settledMs - sinceMs, 0));
    return { kind: 'wait', pauseMs: Math.max(pauseMs, Math.min(SECOND_MS, traits.lookUpAfterMs)) };
  }

  /** What was found, without the messages that the part has left. */
  without(found: FoundPosts | 'unknown'): FoundPosts | 'unknown' {
    const { left } = this.#options;
    if (found === 'unknown' || left.size === 0) return found;
    const isLeft = (handle: string) => [...left].some((one) => one === handle || one.startsWith(`${handle}/`));
    const others = (handles: readonly string[]) => handles.filter((handle) => !isLeft(handle));
    return { ...found, keyed: others(found.keyed), strays: others(found.strays) };
  }

  /**
   * Takes away what is nobody's answer. @param standing the handle of the message that stands, if one does
   * @returns `removed` when a post of this part was among it for certain; `doubtful` when something may have to go that may yet be another turn's
   */
  async takeAway(
    { keyed, strays, doomed }: FoundPosts,
    standing?: string,
  ): Promise<'removed' | 'doubtful' | 'nothing'> {
    const { push, ledger, part, traits } = this.#options;
    let isMine = false;
    let isDoubtful = false;
    const remove = async (handle: string, isStray: boolean) => {
      const fate = await push.remove(handle, isStray);
      if (fate === 'later') isDoubtful = true;
      return fate === 'gone';
    };
    for (const handle of strays) {
      const verdict = await ledger.claimStray(part, handle, settledAfterMs(traits));
      if (verdict === 'doubtful') isDoubtful = true;
      if (verdict !== 'mine' && verdict !== 'nobody') continue;
      if ((await remove(handle, true)) && verdict === 'mine') isMine = true;
    }
    const isSame = (handle: string) => standing === handle || standing?.startsWith(`${handle}/`) === true;
    const others = standing === undefined ? [] : keyed.filter((handle) => !isSame(handle));
    for (const handle of [...others, ...doomed]) await remove(handle, false);
    return isDoubtful ? 'doubtful' : isMine ? 'removed' : 'nothing';
  }
}
