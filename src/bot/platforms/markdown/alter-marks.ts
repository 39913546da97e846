import type { Dialect } from './dialect.ts';

/** Broadcast mentions, including the at sign written as an entity. `@allocate` is an ordinary word and does not match. */
const BROADCAST_MENTION =
  /(?:@|&(?:commat|#0{0,5}64|#x0{0,5}40);)(?=\\?(?:所有人|(?:all|everyone|here|channel)(?![A-Za-z0-9_])))/gi;
/** Broadcast syntax of other platforms. It is also neutralised, because a text may be copied to another platform. */
const FOREIGN_MENTION = /(?:<|&(?:lt|#0{0,5}60|#x0{0,5}3c);)(?=\\?(?:!(?:channel|here|everyone|subteam)|\/?at\b))/gi;
const USER_MENTION = /(?:<|&(?:lt|#0{0,5}60|#x0{0,5}3c);)(\\?)@/gi;
/** A text without one of these characters contains no mention. */
const MARK_SIGN = /[@<&]/;
/** Applies to code as well, because a client that parses the surrounding markdown differently may not treat it as code. */
const REMOTE_IMAGE = /!(?=\[[^\]\n]{0,300}\]\(\s{0,8}<?https?:)/gi;

/**
 * Neutralises mentions on all platforms (SECURITY.md harmless-marks). Runs over the whole text, including code. Characters
 * are replaced, not removed, so that the text stays readable. Idempotent.
 */
export function neutraliseMentions(text: string, dialect: Dialect): string {
  if (!MARK_SIGN.test(text)) return text;
  return dialect
    .neutraliseOwnMentions(text)
    .replace(FOREIGN_MENTION, '＜')
    .replace(USER_MENTION, '<$1＠')
    .replace(BROADCAST_MENTION, '＠');
}

/**
 * Neutralises the exclamation mark of an image with a remote address, so that no client loads it (SECURITY.md honest-links).
 */
export function withoutRemoteImages(text: string): string {
  return text.replace(REMOTE_IMAGE, '！');
}
