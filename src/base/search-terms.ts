/**
 * What a text is looked up by. Words of letters and digits in lower case with a light English stem; Chinese, Japanese and Korean as
 * pairs of neighbouring characters, since nothing else tells where a word ends there. A term is a number, so that no text is made
 * for it: a pair is exact, a word is 52 bits of its hash.
 */
export type Term = number;

const OTHER = 0;
const WORD = 1;
const IDEOGRAPH = 2;

/** What each character of the basic plane is. */
const KINDS = kindsOfCharacters();

/** A pair is below it, a word at it or above. */
const WORDS_FROM = 2 ** 52;
/** More than there are characters. */
const CHARACTERS = 2 ** 21;
const HASH_BITS = 26;

/** What is longer is no word; its beginning stands for it. */
const MOST_WORD_CHARS = 64;

/** Calls for each term of a text in order; linear in the text whatever it holds. */
export function eachTerm(text: string, take: (term: Term) => void): void {
  const plain = text.normalize('NFKC').toLowerCase();
  let wordFrom = -1;
  let before = 0;
  let isPaired = false;
  /** Ends a run of ideographs: one alone stands for itself. */
  const endRun = () => {
    if (before !== 0 && !isPaired) take(before * CHARACTERS);
    before = 0;
    isPaired = false;
  };
  for (let at = 0; at < plain.length; at += 1) {
    const unit = plain.charCodeAt(at);
    const isHigh = unit >= 0xd800 && unit < 0xdc00;
    const code = isHigh ? (plain.codePointAt(at) as number) : unit;
    const kind = code > 0xffff ? kindOfRare(code) : KINDS[code];
    if (kind !== WORD && wordFrom >= 0) {
      take(wordTerm(plain, wordFrom, at));
      wordFrom = -1;
    }
    if (kind !== IDEOGRAPH) endRun();
    if (kind === WORD && wordFrom < 0) wordFrom = at;
    if (kind === IDEOGRAPH) {
      if (before !== 0) take(before * CHARACTERS + code);
      isPaired = before !== 0;
      before = code;
    }
    if (code > 0xffff) at += 1;
  }
  if (wordFrom >= 0) take(wordTerm(plain, wordFrom, plain.length));
  endRun();
}

/** The different terms of a question that say what it is about, in order. @param most further ones are left out */
export function queryTerms(query: string, most: number): Term[] {
  const found = new Set<Term>();
  eachTerm(query, (term) => {
    if (found.size < most && !STOP_TERMS.has(term)) found.add(term);
  });
  return [...found];
}

function wordTerm(text: string, from: number, to: number): Term {
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

/** Two hashes of 26 bits in one number. */
function wordHash(word: string): Term {
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

/** Words that stand in every question, and say nothing of what is asked. */
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
