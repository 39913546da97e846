import { say, type Language } from '../../../shared/text/texts.ts';
import type { Platform } from '../../platforms/platform.ts';
import { REPLY_TEXTS } from '../../i18n/reply-texts.ts';
import { ANSWER_FILE_NAME } from '../answer-file.ts';
import type { FollowUp } from './follow-up.ts';

/** No answer is worth more of them; the last says that more was said. */
const MOST_PIECES = 4;

/** The sentence below a message whose answer goes on elsewhere. */
export function goesOn(language: Language): string {
  return `\n\n${say(REPLY_TEXTS.goesOn, language)}`;
}

/** The sentence below a message whose whole answer follows as a file. */
export function followsAsFile(language: Language): string {
  return `\n\n${say(REPLY_TEXTS.wholeAsFile, language, { name: ANSWER_FILE_NAME })}`;
}

/** Room for either sentence. Bytes. */
export function goesOnBytes(language: Language): number {
  return Math.max(Buffer.byteLength(goesOn(language)), Buffer.byteLength(followsAsFile(language)));
}

/** As many pieces as are kept to follow an answer. */
export function keptPieces(platform: Platform, pieces: readonly string[], language: Language): string[] {
  if (pieces.length <= MOST_PIECES) return [...pieces];
  const last = withCutNotice(platform, pieces[MOST_PIECES - 1] ?? '', language);
  return [...pieces.slice(0, MOST_PIECES - 1), last];
}

/** What goes by the message's own handle: one message, below the one that it goes on from. */
export function wordsByHandle(platform: Platform, { pieces, language }: FollowUp, sentPieces: number): string {
  const [first = '', ...more] = pieces.slice(sentPieces);
  if (more.length === 0) return platform.renderReply({ text: first, finished: true });
  const mark = goesOn(language);
  const [fitting = ''] = platform.splitReply(first, Buffer.byteLength(mark));
  return platform.renderReply({ text: fitting + mark, finished: true });
}

/** What comes elsewhere says where it belongs. */
export function wordsByItself({ pieces, isWhole, language }: FollowUp, sentPieces: number): string {
  const heading = REPLY_TEXTS[isWhole && sentPieces === 0 ? 'earlierAnswer' : 'restOfAnswer'];
  return [say(heading, language), ...pieces.slice(sentPieces)].join('\n\n');
}

/** What is left of a text of several messages of which the first stand already. */
export function restOfParts({ language }: FollowUp, parts: string[], sentParts: number): string {
  return [say(REPLY_TEXTS.restOfAnswer, language), parts.slice(sentParts).join('')].join('\n\n');
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
