import { asError } from '../../base/coded-error.ts';
import type { Log } from '../../base/log.ts';
import { PlatformAccess } from '../platform-access.ts';
import { PlatformError } from '../platform-error.ts';
import type { PostResult } from '../platform.ts';
import { isReplyAddress } from './media.ts';
import { RATE_LIMITED, type WecomApi, type WecomAnswer } from './platform-api.ts';
import { renderReply } from './render-reply.ts';

export interface PostOptions {
  api: WecomApi;
  apiUrl: string;
  log: Log;
  /** Learns what WeCom refuses until the operator mends the app. */
  access: PlatformAccess;
}

const TO_ADDRESS = 'response_url';
export const BY_APP = 'message/send';
/** The app has no right to this one kind of call. */
const FORBIDDEN = 48_002;

/** Busy, or too many calls: nothing was posted, and the same call may be made again. */
const TRY_AGAIN = new Set([-1, RATE_LIMITED, 45_033]);
/** The app's secret, ids or rights, or the addresses that it trusts: nothing was posted, and only the operator can mend it. */
const UNAUTHORISED = new Set([40_001, 40_013, 40_014, 40_056, 41_001, 42_001, FORBIDDEN, 60_011, 60_020]);

/**
 * What WeCom's answers to posts show of whether it takes our calls. A post by the app shows that its secret, its ids and its
 * address are in order; an address that carries its own permission shows nothing but itself.
 * @param onRefused called with the errcode
 */
export function createWecomAccess(onRefused?: (code: string) => void): PlatformAccess {
  return new PlatformAccess((taken, code) => taken === BY_APP && code !== String(FORBIDDEN), onRefused);
}

/** Posts an answer to a message's response_url: good for one hour and one use. All but `sent` and `refused` may be tried again. */
export async function replyLater(handle: string, text: string, options: PostOptions): Promise<PostResult> {
  if (!isReplyAddress(handle, options.apiUrl)) return 'refused';
  const content = renderReply({ text, finished: true });
  const post = options.api.postTo(new URL(handle), { msgtype: 'markdown', markdown: { content } });
  return resultOf(post, options, TO_ADDRESS);
}

/** What became of a post. Never rejects. @param name of the kind of post */
export async function resultOf(
  post: Promise<WecomAnswer>,
  { log, access }: Pick<PostOptions, 'log' | 'access'>,
  name: string,
): Promise<PostResult> {
  const because = (errcode: number | undefined) => {
    const result = whyNot(errcode);
    if (result === 'unauthorised') access.refused(name, String(errcode));
    return result;
  };
  try {
    const answer = await post;
    if (answer.errcode === 0) access.taken(name);
    const hasReached = typeof answer['invaliduser'] !== 'string' || answer['invaliduser'] === '';
    if (answer.errcode === 0 && hasReached) return 'sent';
    log.warn({ post: name, errcode: answer.errcode, hasReached }, 'WeCom refused a post');
    return because(answer.errcode);
  } catch (error) {
    log.warn({ post: name, error: asError(error) }, 'the fate of a post to WeCom is not known');
    if (!(error instanceof PlatformError) || error.code === 'unreachable') return 'uncertain';
    // A process that was frozen before the call left asks its fence anew.
    return error.code === 'unsent' ? 'busy' : because(error.platformCode);
  }
}

function whyNot(errcode: number | undefined): PostResult {
  if (errcode === undefined) return 'refused';
  if (UNAUTHORISED.has(errcode)) return 'unauthorised';
  return TRY_AGAIN.has(errcode) ? 'busy' : 'refused';
}
