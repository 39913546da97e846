import { SECOND_MS } from '../base/clock.ts';
import { say, type Language } from '../base/texts.ts';
import type { Platform, PostResult } from '../platforms/platform.ts';
import type { ReplyReport } from './reply-report.ts';
import { REPLY_TEXTS } from '../texts/reply-texts.ts';

/** Pauses between the tries of a post whose fate is uncertain. The platform refuses the second use by itself. */
const RETRY_PAUSES_MS = [0.5 * SECOND_MS, 2 * SECOND_MS, 8 * SECOND_MS];

interface LaterPost {
  platform: Platform;
  report: ReplyReport;
  laterReplyHandle: string | undefined;
  language: Language;
  storeAnswer(text: string): Promise<boolean>;
}

/** What became of an answer that went the platform's other way; `unavailable`: there is no such way for this message. */
export type LaterResult = PostResult | 'unavailable';

/**
 * Sends what the live reply could not hold by the platform's other way, which can be used once.
 * The full answer is stored before, so that a crash in between neither generates nor loses it (security.md 4.4).
 * @param fullText the whole answer @param pieces what is to be sent; they share the one post, cut to its size
 */
export async function postLater(post: LaterPost, fullText: string, pieces: string[]): Promise<LaterResult> {
  const { platform, laterReplyHandle, report } = post;
  const result =
    laterReplyHandle === undefined || !platform.replyLater
      ? 'unavailable'
      : (await post.storeAnswer(fullText))
        ? await postOnce(platform.replyLater.bind(platform), laterReplyHandle, fitOnePost(pieces, post))
        : 'uncertain';
  report.replyHandedOver({ platform: platform.name, result });
  return result;
}

/**
 * Posts until the platform answers. `once` reconciliation: after an uncertain try, a refusal means that the first one
 * had arrived, so it counts as sent.
 */
async function postOnce(
  send: (handle: string, text: string) => Promise<PostResult>,
  handle: string,
  text: string,
): Promise<PostResult> {
  let wasUncertain = false;
  for (const pauseMs of [0, ...RETRY_PAUSES_MS]) {
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const result = await send(handle, text);
    if (result === 'sent') return 'sent';
    if (result === 'refused') return wasUncertain ? 'sent' : 'refused';
    wasUncertain ||= result === 'uncertain';
  }
  return wasUncertain ? 'uncertain' : 'refused';
}

function fitOnePost(pieces: string[], { platform, language }: LaterPost): string {
  const [first = '', ...rest] = pieces;
  const text = rest.length === 0 ? first : withCutNotice(platform, first, language);
  return platform.renderReply({ text, finished: true });
}

/**
 * As much of a text as fits one message together with the sentence that says that more was said.
 * @param reserveBytes room that the message keeps for what else stands in it
 */
export function withCutNotice(platform: Platform, text: string, language: Language, reserveBytes = 0): string {
  const notice = `\n\n${say(REPLY_TEXTS.cut, language)}`;
  const [fitting = ''] = platform.splitReply(text, Buffer.byteLength(notice) + reserveBytes);
  return fitting + notice;
}
