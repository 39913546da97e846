import { MAX_WORD_CHARS, wordHash, wordTerm, type Term } from './word-terms.ts';

/** For CS-101 and Wi-Fi; also the non-breaking hyphen, and dashes. */
const HYPHENS = '-\u2010\u2013\u2014';
/** For CS 101, CS_101, CS.101, CS/101: one word only at a boundary between letters and digits. */
const SEPARATORS = ' _./';
const CODE_LETTERS = /^\p{L}{1,6}$/u;
const CODE_DIGITS = /^\d[\p{L}\d]{0,7}$/u;
const QUANTITY = /^\d{1,8}$/;
const UNIT = /^\p{L}{1,3}$/u;
/** Suffix of the form for a single letter without signs; never occurs in a word. */
const ALONE = '\0';

/** Finds neighbouring words of a text that may also be written as one. */
export class Compounds {
  readonly #text: string;
  readonly #take: (joined: Term, parts: readonly Term[]) => void;
  #last = '';
  #lastTerm: Term = 0;
  #lastTo = -1;
  #isLastIdle = false;
  /** Words joined by hyphens, and their terms. */
  #chain = '';
  #chainTerms: Term[] = [];

  constructor(text: string, take: (joined: Term, parts: readonly Term[]) => void) {
    this.#text = text;
    this.#take = take;
  }

  /** Adds the next word of the text. @param isIdle whether it is a stop word */
  add(from: number, to: number, term: Term, isIdle: boolean): void {
    const isLong = to - from > MAX_WORD_CHARS;
    const word = isLong ? '' : this.#text.slice(from, to);
    const gap = from === this.#lastTo + 1 ? this.#text.charAt(this.#lastTo) : '';
    const isHyphened = gap !== '' && HYPHENS.includes(gap) && this.#chain.length <= MAX_WORD_CHARS;
    if (isHyphened || (gap !== '' && SEPARATORS.includes(gap) && this.#isCode(word, isIdle)))
      this.#emit(this.#last + word, [this.#lastTerm, term]);
    if (!isHyphened) this.#chainTerms = [];
    this.#chain = isHyphened ? this.#chain + word : word;
    this.#chainTerms.push(term);
    if (this.#chainTerms.length > 2) this.#emit(this.#chain, this.#chainTerms);
    this.#last = word;
    this.#lastTerm = term;
    this.#lastTo = to;
    this.#isLastIdle = isIdle;
  }

  #isCode(word: string, isIdle: boolean): boolean {
    if (isIdle || this.#isLastIdle) return false;
    const isNumber = CODE_LETTERS.test(this.#last) && CODE_DIGITS.test(word);
    return isNumber || (QUANTITY.test(this.#last) && UNIT.test(word));
  }

  #emit(joined: string, parts: readonly Term[]): void {
    if (joined.length <= MAX_WORD_CHARS) this.#take(wordTerm(joined, 0, joined.length), parts);
  }
}

/** A word together with its signs. `isWithin`: a name behind a dot within another (ASP.NET). `isAlone`: a letter without signs. */
export interface SignedForm {
  term: Term;
  isWithin?: boolean;
  isAlone?: boolean;
}

/** The form that distinguishes C++, C#, C and .NET, and A+ from A; undefined for a word without such a form. */
export function signedForm(text: string, from: number, to: number): SignedForm | undefined {
  const isShort = to - from === 1;
  const next = text[to];
  const isBehindDot = text[from - 1] === '.';
  if (!(isShort || isBehindDot || next === '+') || to - from > MAX_WORD_CHARS) return undefined;
  const word = text.slice(from, to);
  if (/\d$/.test(word)) return undefined;
  if (text.startsWith('++', to)) return { term: wordHash(`${word}++`) };
  if (isShort && (next === '#' || (next === '+' && !isWordCharacter(text[to + 1]))))
    return { term: wordHash(word + next) };
  const isWithin = isBehindDot && isWordCharacter(text[from - 2]);
  // The letter in example.c counts as a single letter.
  if (isBehindDot && !(isWithin && isShort)) return { term: wordHash(`.${word}`), isWithin };
  return isShort ? { term: wordHash(word + ALONE), isAlone: true } : undefined;
}

function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}
