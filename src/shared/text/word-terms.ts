/**
 * Search term of a text. Words of letters and digits are lower-cased with a light English stemmer. Chinese, Japanese and
 * Korean are indexed as pairs of neighbouring characters, because words are not separated there. A term is a number, to
 * avoid allocating strings: a pair is exact, a word is 52 bits of its hash.
 */
export type Term = number;

/** Pairs are below this value, words at or above it. */
const WORDS_FROM = 2 ** 52;
const HASH_BITS = 26;

/** Maximum length of a word. Of a longer one only the beginning is used. */
export const MAX_WORD_CHARS = 64;

/** Whether a term is a word, not ideographs. */
export function isWord(term: Term): boolean {
  return term >= WORDS_FROM;
}

/** The term of a word in a lower-case text. */
export function wordTerm(text: string, from: number, to: number): Term {
  return wordHash(stemOf(text.slice(from, Math.min(to, from + MAX_WORD_CHARS))));
}

/** Strips the most common English endings, so that "opening hours" finds "opens at this hour". */
function stemOf(word: string): string {
  const last = word.length < 4 ? 0 : word.charCodeAt(word.length - 1);
  let stem = word;
  if (last === LETTER_S && !/[siu]s$/.test(word))
    stem = word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.slice(0, -1);
  if (stem.length > 5 && stem.endsWith('ing')) stem = withoutDoubling(stem.slice(0, -3));
  else if (stem.length > 4 && stem.endsWith('ed')) stem = withoutDoubling(stem.slice(0, -2));
  return stem.length > 4 && stem.endsWith('e') ? stem.slice(0, -1) : stem;
}

/** `swimm` of "swimming" is `swim`; `call`, `pass` and `buzz` are words (as in Porter's stemmer). */
function withoutDoubling(stem: string): string {
  return /([^aeioulsz\d])\1$/.test(stem) ? stem.slice(0, -1) : stem;
}

const LETTER_S = 's'.charCodeAt(0);

/** The term of a word without stemming: two 26-bit hashes in one number. */
export function wordHash(word: string): Term {
  let one = 0x811c9dc5;
  let other = 0x9e3779b9;
  for (let at = 0; at < word.length; at += 1) {
    const unit = word.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ unit, 0x85ebca6b);
    other ^= other >>> 13;
  }
  one = Math.imul(one ^ (one >>> 15), 0x2c1b3c6d);
  return WORDS_FROM + (one >>> (32 - HASH_BITS)) * 2 ** HASH_BITS + (other >>> (32 - HASH_BITS));
}
