/*
 * Rules for when a run of `*`, `_` or `~` may open or close emphasis: those of CommonMark, and those of its CJK-friendly
 * amendment, under which adjacent CJK letters and punctuation never prevent a delimiter from opening or closing.
 */

const WHITESPACE = /\s|^$/u;
const PUNCTUATION = /[\p{P}\p{S}]/u;
const CJK = /[\p{scx=Han}\p{scx=Hangul}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Bopomofo}\u3000-\u303f\uff00-\uffef]/u;

export interface Flanking {
  left: boolean;
  right: boolean;
}

/**
 * Flanking of a delimiter run by CommonMark. @param before the preceding character, empty at the beginning @param after the
 * following character
 */
export function strictFlanking(before: string, after: string): Flanking {
  const [pBefore, pAfter] = [PUNCTUATION.test(before), PUNCTUATION.test(after)];
  const [sBefore, sAfter] = [WHITESPACE.test(before), WHITESPACE.test(after)];
  return { left: !sAfter && (!pAfter || sBefore || pBefore), right: !sBefore && (!pBefore || sAfter || pAfter) };
}

/** Flanking of a delimiter run by the CJK-friendly amendment. */
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

/** The characters before and after a range of the text; whole code points, also outside the BMP. */
export function around(text: string, from: number, to: number): [before: string, after: string] {
  const before = [...text.slice(Math.max(0, from - 2), from)].at(-1) ?? '';
  const after = [...text.slice(to, to + 2)][0] ?? '';
  return [before, after];
}
