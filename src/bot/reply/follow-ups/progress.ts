import { MINUTE_MS } from '../../../shared/clock.ts';
import type { Platform, PostResult } from '../../platforms/platform.ts';
import type { FollowUp } from './follow-up.ts';

/** The ways of what follows an answer, in their order: a file or messages by the message's own handle, a message of its own, the next private reply. */
export type Way = 'file' | 'handle' | 'private' | 'reply';

/** How far one has come; kept in Redis before each post and each pause. */
export interface Progress {
  way: Way;
  /** Pieces that stand already. */
  sentPieces: number;
  /** Of the messages in which the other pieces are written privately, so many stand already. */
  sentParts: number;
  /** Whether a post by the handle may have arrived of which nothing is known. */
  isInDoubt: boolean;
}

/** So long before its end a handle is not relied upon any more. */
const HANDLE_MARGIN_MS = MINUTE_MS;

/** As Redis keeps it. The parts stand by themselves: a version that does not know them writes all of them again, and WeCom shows none twice. */
export interface KeptProgress {
  state: string;
  parts: string;
}

export function formatProgress({ way, sentPieces, sentParts, isInDoubt }: Progress): KeptProgress {
  return { state: `${way} ${sentPieces} ${isInDoubt ? 'in-doubt' : 'known'}`, parts: String(sentParts) };
}

/** @param kept as `formatProgress` wrote it; anything else has not begun. @param first the way with which it begins */
export function readProgress({ state, parts }: KeptProgress, first: 'file' | 'handle' = 'handle'): Progress {
  const [, way, sentPieces, doubt] = /^(file|handle|private|reply) (\d+) (in-doubt|known)$/.exec(state) ?? [];
  if (way === undefined) return { way: first, sentPieces: 0, sentParts: 0, isInDoubt: false };
  const sentParts = /^\d+$/.test(parts) ? Number(parts) : 0;
  return { way: way as Way, sentPieces: Number(sentPieces), sentParts, isInDoubt: doubt === 'in-doubt' };
}

interface Situation {
  followUp: FollowUp;
  platform: Pick<Platform, 'replyTraits' | 'writePrivately' | 'replyLaterAsFile'>;
  /** How long ago the commit was. Milliseconds. */
  ageMs: number;
}

/** Leaves a way that is not there, or not any more. */
export function nextWay(progress: Progress, { followUp, platform, ageMs }: Situation): Progress {
  const isHandleOver = followUp.handleAgeMs + ageMs >= platform.replyTraits.laterReplyLifetimeMs - HANDLE_MARGIN_MS;
  const begun = progress.way === 'file' && !platform.replyLaterAsFile ? 'handle' : progress.way;
  const way = (begun === 'handle' || begun === 'file') && isHandleOver ? 'private' : begun;
  return { ...progress, way: way === 'private' && !platform.writePrivately ? 'reply' : way };
}

/**
 * What a try changes. By the handle, after a post of unknown fate, a refusal means that the first one had arrived: it can be
 * used once. A platform that is busy, or takes no calls of ours, has not looked at the handle, and says nothing about it.
 * @param parts messages in which what no handle brought is written privately. @param uses how many messages the handle is good for
 */
export function afterTry(
  progress: Progress,
  result: PostResult,
  { pieces, parts, uses = 'one' }: { pieces: number; parts: number; uses?: 'one' | 'many' },
): Progress | 'brought' {
  const { way, sentPieces, sentParts, isInDoubt } = progress;
  if (result === 'busy' || result === 'unauthorised' || result === 'declined') return progress;
  if (result === 'uncertain') return { ...progress, isInDoubt: isInDoubt || way === 'handle' };
  // A file is safe to repeat, and refused only where it stands nowhere.
  if (way === 'file') return result === 'sent' ? 'brought' : { ...progress, way: 'handle', isInDoubt: false };
  if (way !== 'handle') {
    if (result !== 'sent') return { ...progress, way: 'reply' };
    return sentParts + 1 >= parts ? 'brought' : { ...progress, sentParts: sentParts + 1 };
  }
  // One that is good for many takes the same message twice: a refusal says nothing of an earlier try.
  const hasArrived = result === 'sent' || (isInDoubt && uses === 'one');
  const sent = sentPieces + (hasArrived ? 1 : 0);
  if (sent >= pieces) return 'brought';
  const goesOn = uses === 'many' && hasArrived;
  return { way: goesOn ? 'handle' : 'private', sentPieces: sent, sentParts: 0, isInDoubt: false };
}
