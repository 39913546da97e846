import { localize, type Language } from '../../../shared/text/texts.ts';
import type { Platform } from '../../platforms/platform.ts';
import { REPLY_TEXTS } from '../../i18n/reply-texts.ts';
import { ANSWER_FILE_NAME } from '../answer-file.ts';
import type { FollowUp } from './follow-up.ts';

/** Maximum pieces of a follow-up; the last piece says that the answer was cut. */
const MAX_PIECES = 4;

/** Notice below a message whose answer continues in another message. */
export function continuationNotice(language: Language): string {
  return `\n\n${localize(REPLY_TEXTS.goesOn, language)}`;
}

/** Notice below a message whose complete answer follows as a file. */
export function fileNotice(language: Language): string {
  return `\n\n${localize(REPLY_TEXTS.wholeAsFile, language, { name: ANSWER_FILE_NAME })}`;
}

/** Size of the longer of the two notices. Bytes. */
export function maxNoticeBytes(language: Language): number {
  return Math.max(Buffer.byteLength(continuationNotice(language)), Buffer.byteLength(fileNotice(language)));
}

/** The pieces to store as the follow-up of an answer, at most `MAX_PIECES`. */
export function keptPieces(platform: Platform, pieces: readonly string[], language: Language): string[] {
  if (pieces.length <= MAX_PIECES) return [...pieces];
  const last = withCutNotice(platform, pieces[MAX_PIECES - 1] ?? '', language);
  return [...pieces.slice(0, MAX_PIECES - 1), last];
}

/** Text sent by the message's own reply handle: one message, shown below the message that it continues. */
export function formatForHandle(platform: Platform, followUp: FollowUp, sentPieces: number): string {
  const { pieces, language } = followUp;
  const [first = '', ...more] = pieces.slice(sentPieces);
  if (more.length === 0) return platform.renderReply({ text: withStatus(first, followUp), finished: true });
  const mark = continuationNotice(language);
  const [fitting = ''] = platform.splitReply(first, Buffer.byteLength(mark));
  return platform.renderReply({ text: fitting + mark, finished: true });
}

/** A later message has no place beside its text. */
export function withStatus(text: string, { status }: Pick<FollowUp, 'status'>): string {
  return status === undefined ? text : `${text}\n\n${status}`;
}

/** Text sent as a separate message, with a heading that marks it as an earlier answer or the remainder of one. */
export function formatStandalone({ pieces, isWhole, language }: FollowUp, sentPieces: number): string {
  const heading = REPLY_TEXTS[isWhole && sentPieces === 0 ? 'earlierAnswer' : 'restOfAnswer'];
  return [localize(heading, language), ...pieces.slice(sentPieces)].join('\n\n');
}

/** The remainder of a text of several messages, of which the first have already been sent. */
export function restOfParts({ language }: FollowUp, parts: string[], sentParts: number): string {
  return [localize(REPLY_TEXTS.restOfAnswer, language), parts.slice(sentParts).join('')].join('\n\n');
}

/**
 * Cuts a text so that it fits one message together with the notice that it was cut.
 * @param reserveBytes room that the message keeps for its other parts
 */
export function withCutNotice(platform: Platform, text: string, language: Language, reserveBytes = 0): string {
  const notice = `\n\n${localize(REPLY_TEXTS.cut, language)}`;
  const [fitting = ''] = platform.splitReply(text, Buffer.byteLength(notice) + reserveBytes);
  return fitting + notice;
}
