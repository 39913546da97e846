/**
 * What a text is looked up by. Words of letters and digits in lower case with a light English stem; Chinese, Japanese and Korean as
 * pairs of neighbouring characters, since nothing else tells where a word ends there. A term is a number, so that no text is made
 * for it: a pair is exact, a word is 52 bits of its hash.
 */
export type Term = number;

/** A pair is below it, a word at it or above. */
const WORDS_FROM = 2 ** 52;
const HASH_BITS = 26;

/** What is longer is no word; its beginning stands for it. */
export const MOST_WORD_CHARS = 64;

/** Whether a term is that of a word, not of ideographs. */
export function isWord(term: Term): boolean {
  return term >= WORDS_FROM;
}

/** The term of a word in a text of lower case. */
export function wordTerm(text: string, from: number, to: number): Term {
  return wordHash(stemOf(text.slice(from, Math.min(to, from + MOST_WORD_CHARS))));
}

/** Without the commonest English endings, so that "opening hours" finds "opens at this hour". */
function stemOf(word: string): string {
  const last = word.length < 4 ? 0 : word.charCodeAt(word.length - 1);
  let stem = word;
  if (last === LETTER_S && !/[siu]s$/.test(word))
    stem = word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.slice(0, -1);
  if (stem.length > 5 && stem.endsWith('ing')) stem = stem.slice(0, -3);
  else if (stem.length > 4 && stem.endsWith('ed')) stem = stem.slice(0, -2);
  return stem.length > 4 && stem.endsWith('e') ? stem.slice(0, -1) : stem;
}

const LETTER_S = 's'.charCodeAt(0);

/** The term of a word as it is written: two hashes of 26 bits in one number. */
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
