import { MINUTE_MS } from '../../base/clock.ts';
import type { Platform, PostResult } from '../../platforms/platform.ts';
import type { FollowUp } from './follow-up.ts';

/** The ways of what follows an answer, in their order: the message's own handle, a message of its own, the next private reply. */
export type Way = 'handle' | 'private' | 'reply';

/** How far one has come; kept in Redis before each post and each pause. */
export interface Progress {
  way: Way;
  /** Pieces that stand already. */
  sentPieces: number;
  /** Whether a post by the handle may have arrived of which nothing is known. */
  isInDoubt: boolean;
}

/** So long before its end a handle is not relied upon any more. */
const HANDLE_MARGIN_MS = MINUTE_MS;

export function formatProgress({ way, sentPieces, isInDoubt }: Progress): string {
  return `${way} ${sentPieces} ${isInDoubt ? 'in-doubt' : 'known'}`;
}

/** @param kept as `formatProgress` wrote it; anything else has not begun */
export function readProgress(kept: string): Progress {
  const [, way, sentPieces, doubt] = /^(handle|private|reply) (\d+) (in-doubt|known)$/.exec(kept) ?? [];
  if (way === undefined) return { way: 'handle', sentPieces: 0, isInDoubt: false };
  return { way: way as Way, sentPieces: Number(sentPieces), isInDoubt: doubt === 'in-doubt' };
}

interface Situation {
  followUp: FollowUp;
  platform: Pick<Platform, 'replyTraits' | 'writePrivately'>;
  /** How long ago the commit was. Milliseconds. */
  ageMs: number;
}

/** Leaves a way that is not there, or not any more. */
export function nextWay(progress: Progress, { followUp, platform, ageMs }: Situation): Progress {
  const isHandleOver = followUp.handleAgeMs + ageMs >= platform.replyTraits.laterReplyLifetimeMs - HANDLE_MARGIN_MS;
  const way = progress.way === 'handle' && isHandleOver ? 'private' : progress.way;
  return { ...progress, way: way === 'private' && !platform.writePrivately ? 'reply' : way };
}

/**
 * What a try changes. By the handle, after a post of unknown fate, a refusal means that the first one had arrived: it can be
 * used once. A platform that is busy, or takes no calls of ours, has not looked at the handle, and says nothing about it.
 */
export function afterTry(progress: Progress, result: PostResult, { pieces }: FollowUp): Progress | 'brought' {
  const { way, sentPieces, isInDoubt } = progress;
  if (result === 'busy' || result === 'unauthorised') return progress;
  if (result === 'uncertain') return { ...progress, isInDoubt: isInDoubt || way === 'handle' };
  if (way !== 'handle') return result === 'sent' ? 'brought' : { ...progress, way: 'reply' };
  const hasArrived = result === 'sent' || isInDoubt;
  const sent = sentPieces + (hasArrived ? 1 : 0);
  return sent >= pieces.length ? 'brought' : { way: 'private', sentPieces: sent, isInDoubt: false };
}
