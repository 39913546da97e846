import { MINUTE_MS } from '../../../shared/clock.ts';
import type { Platform, PostResult } from '../../platforms/platform.ts';
import type { FollowUp } from './follow-up.ts';

/**
 * Methods to deliver a follow-up, in order: a file or messages by the message's handle, a separate private message, the next
 * private reply.
 */
export type DeliveryMethod = 'file' | 'handle' | 'private' | 'reply';

/** Progress of a follow-up; stored in Redis before each post and each pause. */
export interface Progress {
  way: DeliveryMethod;
  sentPieces: number;
  /** Number of private messages already sent for the remaining pieces. */
  sentParts: number;
  /** Whether a post by the handle may or may not have arrived. */
  isInDoubt: boolean;
}

/** Time before a handle's expiry from which it is no longer used. */
const HANDLE_MARGIN_MS = MINUTE_MS;

/**
 * The form stored in Redis. `parts` is separate: a version that does not know it sends all parts again, and WeCom shows none
 * twice.
 */
export interface StoredProgress {
  state: string;
  parts: string;
}

export function formatProgress({ way, sentPieces, sentParts, isInDoubt }: Progress): StoredProgress {
  return { state: `${way} ${sentPieces} ${isInDoubt ? 'in-doubt' : 'known'}`, parts: String(sentParts) };
}

/** @param kept written by `formatProgress`; any other value means not started @param first the first method to try */
export function readProgress({ state, parts }: StoredProgress, first: 'file' | 'handle' = 'handle'): Progress {
  const [, way, sentPieces, doubt] = /^(file|handle|private|reply) (\d+) (in-doubt|known)$/.exec(state) ?? [];
  if (way === undefined) return { way: first, sentPieces: 0, sentParts: 0, isInDoubt: false };
  const sentParts = /^\d+$/.test(parts) ? Number(parts) : 0;
  return { way: way as DeliveryMethod, sentPieces: Number(sentPieces), sentParts, isInDoubt: doubt === 'in-doubt' };
}

interface Situation {
  followUp: FollowUp;
  platform: Pick<Platform, 'replyTraits' | 'writePrivately' | 'replyLaterAsFile'>;
  /** How long ago the commit was. Milliseconds. */
  ageMs: number;
}

/** Skips methods that the platform does not have or that have expired. */
export function nextMethod(progress: Progress, { followUp, platform, ageMs }: Situation): Progress {
  const isHandleOver = followUp.handleAgeMs + ageMs >= platform.replyTraits.laterReplyLifetimeMs - HANDLE_MARGIN_MS;
  const begun = progress.way === 'file' && !platform.replyLaterAsFile ? 'handle' : progress.way;
  const way = (begun === 'handle' || begun === 'file') && isHandleOver ? 'private' : begun;
  return { ...progress, way: way === 'private' && !platform.writePrivately ? 'reply' : way };
}

/**
 * The progress after an attempt. If a single-use handle is refused after a post of unknown fate, the earlier post arrived. A
 * platform that is busy or refuses all calls has not checked the handle, so its answer says nothing about the handle.
 * @param parts private messages that hold the text not delivered by a handle @param uses how many messages the handle is
 * valid for
 */
export function afterAttempt(
  progress: Progress,
  result: PostResult,
  { pieces, parts, uses = 'one' }: { pieces: number; parts: number; uses?: 'one' | 'many' },
): Progress | 'brought' {
  const { way, sentPieces, sentParts, isInDoubt } = progress;
  if (result === 'busy' || result === 'unauthorised' || result === 'declined') return progress;
  if (result === 'uncertain') return { ...progress, isInDoubt: isInDoubt || way === 'handle' };
  // A file is safe to repeat, and refused only if it is not shown anywhere.
  if (way === 'file') return result === 'sent' ? 'brought' : { ...progress, way: 'handle', isInDoubt: false };
  if (way !== 'handle') {
    if (result !== 'sent') return { ...progress, way: 'reply' };
    return sentParts + 1 >= parts ? 'brought' : { ...progress, sentParts: sentParts + 1 };
  }
  // A handle valid for many posts accepts the same message twice, so a refusal says nothing about an earlier attempt.
  const hasArrived = result === 'sent' || (isInDoubt && uses === 'one');
  const sent = sentPieces + (hasArrived ? 1 : 0);
  if (sent >= pieces) return 'brought';
  const goesOn = uses === 'many' && hasArrived;
  return { way: goesOn ? 'handle' : 'private', sentPieces: sent, sentParts: 0, isInDoubt: false };
}
