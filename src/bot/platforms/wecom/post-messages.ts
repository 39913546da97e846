import { asError } from '../../../shared/coded-error.ts';
import type { Log } from '../../../shared/log.ts';
import { PlatformAccess } from '../platform-access.ts';
import { PlatformError } from '../platform-error.ts';
import type { PostResult } from '../platform.ts';
import { isReplyAddress } from './media.ts';
import type { RefusalClassifier, WriteMeaning } from '../write-meaning.ts';
import type { WecomApi, WecomAnswer } from './platform-api.ts';
import { FORBIDDEN } from './refusals.ts';
import { renderReply } from './render-reply.ts';

export interface PostOptions {
  api: WecomApi;
  apiUrl: string;
  log: Log;
  /** Records refusals that last until the operator repairs the app. */
  access: PlatformAccess;
  /** Decides what a refusal means. */
  writes: RefusalClassifier;
}

const TO_ADDRESS = 'response_url';
export const BY_APP = 'message/send';
/**
 * Tracks whether WeCom takes our calls, by its answers to posts. A successful post by the app shows that its secret, ids and
 * address are correct. A post to an address with its own authorisation shows nothing about the app.
 * @param onRefused called with the errcode
 */
export function createWecomAccess(onRefused?: (code: string) => void): PlatformAccess {
  return new PlatformAccess((taken, code) => taken === BY_APP && code !== String(FORBIDDEN), onRefused);
}

/**
 * Posts an answer to a message's response_url, which is valid for one hour and one use. All results except `sent` and
 * `refused` may be retried.
 */
export async function replyLater(handle: string, text: string, options: PostOptions): Promise<PostResult> {
  if (!isReplyAddress(handle, options.apiUrl)) return 'refused';
  const content = renderReply({ text, finished: true });
  const post = options.api.postTo(new URL(handle), { msgtype: 'markdown', markdown: { content } });
  return toPostResult(post, options, TO_ADDRESS);
}

/** Result of a post. Never rejects. @param name of the kind of post */
export async function toPostResult(
  post: Promise<WecomAnswer>,
  { log, access, writes }: Pick<PostOptions, 'log' | 'access' | 'writes'>,
  name: string,
): Promise<PostResult> {
  const because = (errcode: number | undefined) => {
    if (errcode === undefined) return 'refused';
    const result = RESULTS[writes.judge(name, errcode)];
    if (result === 'unauthorised') access.recordRefusal(name, String(errcode));
    return result;
  };
  try {
    const answer = await post;
    if (answer.errcode === 0) access.recordSuccess(name);
    const hasReached = typeof answer['invaliduser'] !== 'string' || answer['invaliduser'] === '';
    if (answer.errcode === 0) return hasReached ? 'sent' : because(NOBODY_REACHED);
    return because(answer.errcode);
  } catch (error) {
    log.warn({ post: name, error: asError(error) }, 'it is unknown whether a message sent to WeCom arrived');
    if (!(error instanceof PlatformError) || error.code === 'unreachable') return 'uncertain';
    // The process was frozen before the call was sent, so the caller must check its fence again.
    return error.code === 'unsent' ? 'busy' : because(error.platformCode);
  }
}

/** WeCom's code for a message without a permitted receiver. A success that lists invalid receivers means the same here. */
const NOBODY_REACHED = 81_013;

const RESULTS: Readonly<Record<WriteMeaning, Exclude<PostResult, 'sent'>>> = {
  'rate-limited': 'busy',
  'unknown-fate': 'uncertain',
  unauthorised: 'unauthorised',
  transient: 'declined',
  snapshot: 'refused',
  method: 'refused',
  conversation: 'refused',
  stopped: 'refused',
};
