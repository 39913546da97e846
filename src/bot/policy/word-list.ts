import { isContinued } from '../../shared/text/is-continued.ts';
import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';
import { ConfigFileError } from '../../shared/json-file.ts';
import { foldText, TextFold, type FoldedCharacter } from './fold-text.ts';
import { ShownText } from './shown-text.ts';
import { AhoCorasick } from './aho-corasick.ts';

/** Result of a scan. */
export interface Scanned {
  hasWord: boolean;
  /** Length of the text that may be shown: a word at its end is held back until the next character shows whether it ends there. */
  showableChars: number;
}

/** Scans one growing text. Each call costs as much as what the text gained. */
export interface WordScan {
  /**
   * @param isWhole whether the text is complete
   * @param end how much of the text is read now; the rest is read by the next call
   */
  scan(text: string, isWhole?: boolean, end?: number): Scanned;
}

export interface WordList {
  begin(): WordScan;
}

const MAX_WORD_CHARS = 200;
const MAX_FAULTS = 20;
const SPARE_CHARS = 256;

/**
 * Reads and folds the text of `MODERATION_WORDS_FILE`: one word or phrase per line; empty lines and lines that begin with `#` are
 * ignored.
 * @throws ConfigFileError with the numbers of faulty lines, never their text
 */
export function readWords(text: string): readonly string[] {
  const faults: string[] = [];
  const words = new Set<string>();
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const word = line.trim();
    if (word === '' || word.startsWith('#')) continue;
    const folded = foldText(word);
    if (folded === '') faults.push(`line ${index + 1} has neither a letter nor a digit`);
    else if (folded.length > MAX_WORD_CHARS)
      faults.push(`line ${index + 1} is longer than ${MAX_WORD_CHARS} characters`);
    else words.add(folded);
  }
  if (faults.length > 0) throw new ConfigFileError('file_invalid', faults.slice(0, MAX_FAULTS));
  return [...words];
}

/** @param words as `readWords` returns them @returns undefined without any word */
export function createWordList(words: readonly string[]): WordList | undefined {
  const building = AhoCorasick.build(words.map(joined));
  let step = building.next();
  while (step.done !== true) step = building.next();
  return listWith(step.value, words);
}

/** The same in slices, between which turns go on. */
export async function createWordListSlowly(words: readonly string[]): Promise<WordList | undefined> {
  const building = AhoCorasick.build(words.map(joined));
  let step = building.next();
  while (step.done !== true) {
    await nextEventLoopTurn();
    step = building.next();
  }
  return listWith(step.value, words);
}

function joined(word: string): string {
  return word.replaceAll(' ', '');
}

function listWith(machine: AhoCorasick, words: readonly string[]): WordList | undefined {
  if (words.length === 0) return undefined;
  const longest = words.reduce((most, word) => Math.max(most, word.length), 0);
  const phrases = phrasesOf(words);
  return { begin: () => new MarkdownScan(() => new GrowingScan(machine, phrases, longest)) };
}

/** Where the words of a phrase begin, except the first. */
type Breaks = ReadonlySet<number>;
const NO_BREAKS: Breaks = new Set();

/** The phrases of the list by their letters: `the rapist` is not `therapist`. */
function phrasesOf(words: readonly string[]): ReadonlyMap<string, readonly Breaks[]> {
  const all = new Set(words);
  const phrases = new Map<string, Breaks[]>();
  for (const word of words) {
    const parts = word.split(' ');
    if (parts.length === 1) continue;
    const breaks = new Set<number>();
    let at = 0;
    for (const part of parts.slice(0, -1)) breaks.add((at += part.length));
    const letters = parts.join('');
    const known = phrases.get(letters) ?? (all.has(letters) ? [NO_BREAKS] : []);
    phrases.set(letters, [...known, breaks]);
  }
  return phrases;
}

/** Scans a text as it is written and, once it contains links or entities, as an app shows it. */
class MarkdownScan implements WordScan {
  readonly #written: WordScan;
  readonly #shown: WordScan;
  readonly #text = new ShownText();

  constructor(begin: () => WordScan) {
    this.#written = begin();
    this.#shown = begin();
  }

  scan(text: string, isWhole = false, end = text.length): Scanned {
    const written = this.#written.scan(text, isWhole, end);
    const shown = this.#text.read(text, isWhole, end);
    if (!shown) return written;
    const { hasWord, showableChars } = this.#shown.scan(shown.text, isWhole);
    const isPending = showableChars < shown.text.length;
    return {
      hasWord: written.hasWord || hasWord,
      showableChars: Math.min(written.showableChars, isPending ? shown.sourceIndexOf(showableChars) : end),
    };
  }
}

class GrowingScan implements WordScan {
  readonly #machine: AhoCorasick;
  readonly #phrases: ReadonlyMap<string, readonly Breaks[]>;
  readonly #longest: number;
  #fold = new TextFold();
  #text = '';
  #read = '';
  /** The newest folded characters: at least the longest word and the character before it. */
  #window: FoldedCharacter[] = [];
  /** State of the machine after them. */
  #node = 0;
  /** Places in the window that the next character decides. */
  #pending: { start: number; end: number }[] = [];
  #hasWord = false;

  constructor(machine: AhoCorasick, phrases: ReadonlyMap<string, readonly Breaks[]>, longest: number) {
    this.#machine = machine;
    this.#phrases = phrases;
    this.#longest = longest;
  }

  scan(text: string, isWhole = false, end = text.length): Scanned {
    // A retracted text is scanned from the start. The same text in parts is not compared each time.
    if (text !== this.#text && !isContinued(text, this.#read)) this.#restart();
    this.#text = text;
    const { added, read } = this.#fold.add(text.slice(this.#read.length, end), this.#read.length);
    this.#read = text.slice(0, this.#read.length + read);
    const knownChars = this.#window.length;
    // A text that was changed is read in one piece, which may be too long for arguments.
    for (const one of added) this.#window.push(one);
    const units = added.length === 1 ? (added[0]?.unit ?? '') : added.map(({ unit }) => unit).join('');
    const { found, node } = this.#machine.search(units, this.#node);
    this.#node = node;
    const places = [...this.#pending, ...found.map(({ start, end: after }) => shifted(knownChars, start, after))];
    this.#pending = [];
    for (const place of places) {
      const inside = this.#window.slice(place.start, place.end);
      const phrases = this.#phrases.get(inside.map(({ unit }) => unit).join('')) ?? [NO_BREAKS];
      if (!phrases.some((breaks) => isWrittenAs(inside, breaks))) continue;
      const judged = judge(this.#window, place, isWhole || this.#fold.endsWithGap);
      if (judged === 'word') this.#hasWord = true;
      if (judged === 'pending') this.#pending.push(place);
    }
    const showableChars = this.#pending.reduce(
      (least, { start }) => Math.min(least, this.#window[start]?.from ?? 0),
      end,
    );
    this.#trim();
    return { hasWord: this.#hasWord, showableChars };
  }

  /** Forgets the oldest characters, not at every call. */
  #trim(): void {
    const spare = this.#window.length - this.#longest - 1;
    if (spare < this.#longest + SPARE_CHARS) return;
    this.#window.splice(0, spare);
    this.#pending = this.#pending.map(({ start, end }) => shifted(-spare, start, end));
  }

  #restart(): void {
    this.#fold = new TextFold();
    this.#read = '';
    this.#window = [];
    this.#node = 0;
    this.#pending = [];
    this.#hasWord = false;
  }
}

function shifted(by: number, start: number, end: number): { start: number; end: number } {
  return { start: start + by, end: end + by };
}

/** A mark may stand anywhere, also in place of a space; a space only between the words of a phrase. */
function isWrittenAs(inside: readonly FoldedCharacter[], breaks: Breaks): boolean {
  return inside.every(({ isAfterGap, isAfterSpace }, at) => at === 0 || (breaks.has(at) ? isAfterGap : !isAfterSpace));
}

/** In scripts with spaces, a word counts only between boundaries: `ass` is not a part of `class`. */
function judge(
  characters: readonly FoldedCharacter[],
  { start, end }: { start: number; end: number },
  isEnded: boolean,
): 'word' | 'part' | 'pending' {
  const [before, first, last, next] = [start - 1, start, end - 1, end].map((at) => characters[at]);
  if (first?.isSpaced === true && !first.isAfterGap && before?.isSpaced === true) return 'part';
  if (last?.isSpaced !== true) return 'word';
  if (next === undefined) return isEnded ? 'word' : 'pending';
  return next.isSpaced && !next.isAfterGap ? 'part' : 'word';
}
