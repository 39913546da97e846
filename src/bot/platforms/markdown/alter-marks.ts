import type { Dialect } from './dialect.ts';

/** Everybody in a chat is called by these; `@allocate` is an ordinary word. The sign may be written as an entity. */
const CALLS_EVERYBODY =
  /(?:@|&(?:commat|#0{0,5}64|#x0{0,5}40);)(?=\\?(?:所有人|(?:all|everyone|here|channel)(?![A-Za-z0-9_])))/gi;
/** Other platforms' marks are altered as well: a text may be carried on from here (contract section 4). */
const CALLS_ELSEWHERE = /(?:<|&(?:lt|#0{0,5}60|#x0{0,5}3c);)(?=\\?(?:!(?:channel|here|everyone|subteam)|\/?at\b))/gi;
const CALLS_SOMEBODY = /(?:<|&(?:lt|#0{0,5}60|#x0{0,5}3c);)(\\?)@/gi;
/** Without one of these nothing calls anybody. */
const MARK_SIGN = /[@<&]/;
/** In code too: what is code to us may be prose to a client that reads the markdown around it differently. */
const REMOTE_IMAGE = /!(?=\[[^\]\n]{0,300}\]\(\s{0,8}<?https?:)/gi;

/**
 * Alters what would call people, on any platform (SECURITY.md harmless-marks). Runs over the whole text, code included. Marks are altered,
 * not taken out, so that a person still sees what was written. Doing it twice changes nothing more.
 */
export function alterMarks(text: string, dialect: Dialect): string {
  if (!MARK_SIGN.test(text)) return text;
  return dialect
    .alterOwnMarks(text)
    .replace(CALLS_ELSEWHERE, '＜')
    .replace(CALLS_SOMEBODY, '<$1＠')
    .replace(CALLS_EVERYBODY, '＠');
}

/** Alters the sign that makes a markdown client load an image from elsewhere (SECURITY.md honest-links). */
export function withoutRemoteImages(text: string): string {
  return text.replace(REMOTE_IMAGE, '！');
}
