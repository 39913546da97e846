/*
 * The rules by which a run of `*`, `_` or `~` may begin or end emphasis: those of CommonMark, and those of its CJK-friendly amendment, in which CJK
 * letters and punctuation keep no sign from opening or closing.
 */

const WHITESPACE = /\s|^$/u;
const PUNCTUATION = /[\p{P}\p{S}]/u;
const CJK = /[\p{scx=Han}\p{scx=Hangul}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Bopomofo}\u3000-\u303f\uff00-\uffef]/u;

export interface Flanking {
  left: boolean;
  right: boolean;
}

/** What a run of signs may do by CommonMark. @param before the character before it, empty at the beginning @param after the one behind it */
export function strictFlanking(before: string, after: string): Flanking {
  const [pBefore, pAfter] = [PUNCTUATION.test(before), PUNCTUATION.test(after)];
  const [sBefore, sAfter] = [WHITESPACE.test(before), WHITESPACE.test(after)];
  return { left: !sAfter && (!pAfter || sBefore || pBefore), right: !sBefore && (!pBefore || sAfter || pAfter) };
}

/** What a run of signs may do by the CJK-friendly amendment. */
export function friendlyFlanking(before: string, after: string): Flanking {
  const [cBefore, cAfter] = [CJK.test(before), CJK.test(after)];
  const [pBefore, pAfter] = [PUNCTUATION.test(before) && !cBefore, PUNCTUATION.test(after) && !cAfter];
  const [sBefore, sAfter] = [WHITESPACE.test(before), WHITESPACE.test(after)];
  return {
    left: !sAfter && (!pAfter || sBefore || pBefore || cBefore),
    right: !sBefore && (!pBefore || sAfter || pAfter || cAfter),
  };
}

export function isPunctuation(character: string): boolean {
  return PUNCTUATION.test(character);
}

/** The character that ends before a place of the text, and the one that begins there; whole ones, outside the BMP too. */
export function around(text: string, from: number, to: number): [before: string, after: string] {
  const before = [...text.slice(Math.max(0, from - 2), from)].at(-1) ?? '';
  const after = [...text.slice(to, to + 2)][0] ?? '';
  return [before, after];
}
