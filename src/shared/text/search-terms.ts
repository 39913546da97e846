import { SIMPLIFIED } from './simplified-characters.ts';
import { Compounds, signedForm } from './word-forms.ts';
import { isWord, wordTerm, type Term } from './word-terms.ts';

export type { Term } from './word-terms.ts';

/**
 * An additional term for a word.
 * - `exact`: a word with the signs that distinguish it (C++, C#, .NET, and C alone).
 * - `joined`: neighbouring words written as one (CS-101 as CS101).
 * - `text`: in texts only: the last ideograph of a run, and a name behind a dot within another (ASP.NET).
 * - `question`: in questions only: an ideograph anywhere.
 */
export type TermForm = 'exact' | 'joined' | 'text' | 'question';

/** @param parts the terms that a joined form replaces */
export type TakeForm = (form: Term, kind: TermForm, parts?: readonly Term[]) => void;

/**
 * Latin letters with an accent, single accents, and invisible characters within words (soft hyphens): people search for
 * `cafe` too.
 */
const ACCENTED = /[\u00ad\u00df-\u024f\u0300-\u036f\u1e00-\u1eff\u200c\u200d\u2060\ufeff]/g;
/** Letters that have no decomposition. */
const PLAIN: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', ı: 'i' };
const SPACE = 0x20;

const OTHER = 0;
const WORD = 1;
const IDEOGRAPH = 2;

/** Kind of each character of the basic plane. */
const KINDS = kindsOfCharacters();

/** Larger than any code point. */
const CHARACTERS = 2 ** 21;
/** Values that replace a pair's second character: for the last character of a run, and for a character anywhere. */
const LAST_OF_RUN = 1;
const ANYWHERE = 2;

/**
 * Calls `take` for each term of a text in order, and `takeForm` for additional forms. Linear in the length of the text. The
 * length of a text is the number of its terms. A form of a single term (`exact`, `question`) is reported directly before it.
 */
export function eachTerm(text: string, take: (term: Term) => void, takeForm?: TakeForm): void {
  const plain = text.normalize('NFKC').toLowerCase().replace(ACCENTED, withoutAccent);
  const compounds = takeForm && new Compounds(plain, (joined, parts) => takeForm(joined, 'joined', parts));
  let wordFrom = -1;
  let before = 0;
  let isPaired = false;
  let isApart = true;
  let runLength = 0;
  const endWord = (to: number) => {
    const term = wordTerm(plain, wordFrom, to);
    const form = takeForm && signedForm(plain, wordFrom, to);
    if (form && !(form.isAlone && isStopTerm(term))) takeForm(form.term, form.isWithin ? 'text' : 'exact');
    take(term);
    compounds?.add(wordFrom, to, term, takeForm !== undefined && isStopTerm(term));
    wordFrom = -1;
  };
  /**
   * Ends a run of ideographs. A single ideograph is a term by itself; one that touches no word also matches all words that
   * contain it.
   */
  const endRun = (isWordNext: boolean) => {
    if (before === 0) return;
    if (isPaired) takeForm?.(before * CHARACTERS + LAST_OF_RUN, 'text');
    else {
      if (isApart && !isWordNext) takeForm?.(before * CHARACTERS + ANYWHERE, 'question');
      take(before * CHARACTERS);
    }
    before = 0;
    isPaired = false;
  };
  for (let at = 0; at < plain.length; at += 1) {
    const unit = plain.charCodeAt(at);
    const isHigh = unit >= 0xd800 && unit < 0xdc00;
    const code = isHigh ? (plain.codePointAt(at) as number) : unit;
    const kind = code > 0xffff ? kindOfRare(code) : KINDS[code];
    const isWordBefore = wordFrom >= 0;
    if (runLength === 1 && unit === SPACE && isLoneIdeograph(plain, at + 1)) {
      runLength = 0;
      continue;
    }
    runLength = kind === IDEOGRAPH ? runLength + 1 : 0;
    if (kind !== WORD && isWordBefore) endWord(at);
    if (kind !== IDEOGRAPH) endRun(kind === WORD);
    if (kind === WORD && wordFrom < 0) wordFrom = at;
    if (kind === IDEOGRAPH) {
      const character = code > 0xffff ? code : (SIMPLIFIED[code] as number);
      if (before === 0) isApart = !isWordBefore;
      else take(before * CHARACTERS + character);
      isPaired = before !== 0;
      before = character;
    }
    if (code > 0xffff) at += 1;
  }
  if (wordFrom >= 0) endWord(plain.length);
  endRun(false);
}

const INVISIBLE = /[\p{M}\p{Cf}]/u;

function withoutAccent(letter: string): string {
  const plain = PLAIN[letter] ?? letter.normalize('NFD').charAt(0);
  return INVISIBLE.test(plain) ? '' : plain;
}

/** Whether a place has an ideograph without a neighbour, as in letter-spaced headings (关 于), which are read as written together. */
function isLoneIdeograph(plain: string, at: number): boolean {
  return KINDS[plain.charCodeAt(at)] === IDEOGRAPH && KINDS[plain.charCodeAt(at + 1)] !== IDEOGRAPH;
}

/** Terms that find an ideograph anywhere, for both ideographs of a pair or for a single one. */
export function anywhereTerms(term: Term): Term[] {
  if (isWord(term)) return [];
  const second = term % CHARACTERS;
  const codes = [Math.floor(term / CHARACTERS), ...(second > ANYWHERE ? [second] : [])];
  return codes.map((code) => code * CHARACTERS + ANYWHERE);
}

/** Range of indexed terms that a term matches: more than one for an ideograph anywhere. */
export function rangeOf(term: Term): [from: Term, below: Term] {
  const isAnywhere = !isWord(term) && term % CHARACTERS === ANYWHERE;
  return isAnywhere ? [term - ANYWHERE, term - ANYWHERE + CHARACTERS] : [term, term + 1];
}

/** The distinct meaningful terms of a question, in order. @param most maximum number of terms */
export function queryTerms(query: string, maxTerms: number): Term[] {
  const found = new Set<Term>();
  eachTerm(query, (term) => {
    if (found.size < maxTerms && !isStopTerm(term)) found.add(term);
  });
  return [...found];
}

/** Whether a term is a stop word. */
export function isStopTerm(term: Term): boolean {
  return STOP_TERMS.has(term);
}

function kindsOfCharacters(): Uint8Array {
  const kinds = new Uint8Array(0x10000);
  const ideograph = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
  for (let code = 0; code < kinds.length; code += 1) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const character = String.fromCharCode(code);
    if (/[\p{L}\p{N}\p{M}]/u.test(character)) kinds[code] = ideograph.test(character) ? IDEOGRAPH : WORD;
  }
  return kinds;
}

function kindOfRare(code: number): number {
  return /\p{Script=Han}/u.test(String.fromCodePoint(code)) ? IDEOGRAPH : OTHER;
}

/** Stop words: they occur in any question and say nothing about its subject. */
const STOP_WORDS =
  'a an the and or of in on at to for from by with as is am are was were be been do does did can could should would will shall may ' +
  'i you we they it he she me my your our us them this that these those there here how what which who whom whose when where why ' +
  'please tell about into than then so if not no any some have has had let get many much long ' +
  '什么 怎么 么样 怎样 多少 请问 哪里 哪些 哪个 可以 是否 一个 一下 我们 你们 他们 这个 那个 如何 为什 没有 时候 我想 想知 知道 告诉 诉我 ' +
  '能否 有没 需要 的话 我要 我的 你的 是什 有什 有哪 是多 的是 了吗 的吗 吗 呢 的 了 是 我';

const STOP_TERMS: ReadonlySet<Term> = termsIn(STOP_WORDS);

function termsIn(text: string): ReadonlySet<Term> {
  const found = new Set<Term>();
  eachTerm(text, (term) => found.add(term));
  return found;
}
