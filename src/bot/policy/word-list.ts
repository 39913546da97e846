import { isContinued } from '../../shared/text/is-continued.ts';
import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';
import { ConfigFileError } from '../../shared/json-file.ts';
import { foldText, MARKS, TextFold, type FoldedSink } from './fold-text.ts';
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
  /** How much of a text is read already. A retracted text is read from the start. */
  readChars(text: string): number;
}

export interface WordList {
  begin(): WordScan;
}

const MAX_WORD_CHARS = 200;
const MAX_FAULTS = 20;

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
  readonly #begin: () => WordScan;
  /** Most texts contain neither. */
  #shown: WordScan | undefined;
  readonly #text = new ShownText();

  constructor(begin: () => WordScan) {
    this.#begin = begin;
    this.#written = begin();
  }

  readChars(text: string): number {
    return this.#written.readChars(text);
  }

  scan(text: string, isWhole = false, end = text.length): Scanned {
    const written = this.#written.scan(text, isWhole, end);
    const shown = this.#text.read(text, isWhole, end);
    if (!shown) return written;
    const { hasWord, showableChars } = (this.#shown ??= this.#begin()).scan(shown.text, isWhole);
    const isPending = showableChars < shown.text.length;
    return {
      hasWord: written.hasWord || hasWord,
      showableChars: Math.min(written.showableChars, isPending ? shown.sourceIndexOf(showableChars) : end),
    };
  }
}

/** From where to where a word stands among the folded characters. */
interface Place {
  start: number;
  end: number;
}

const UNIT_BITS = 16;
const UNIT_MASK = 0xffff;

/** The newest folded characters of a text, by their number since its beginning. */
class NewestCharacters {
  /** The unit, and its marks above it. */
  readonly #characters: number[];
  readonly #indexes: number[];
  readonly #mask: number;
  #count = 0;

  /** @param least how many are kept at least */
  constructor(least: number) {
    const size = 2 ** Math.ceil(Math.log2(least));
    this.#mask = size - 1;
    this.#characters = new Array<number>(size).fill(0);
    this.#indexes = new Array<number>(size).fill(0);
  }

  get count(): number {
    return this.#count;
  }

  push(unit: number, marks: number, index: number): void {
    const at = this.#count & this.#mask;
    this.#characters[at] = unit | (marks << UNIT_BITS);
    this.#indexes[at] = index;
    this.#count += 1;
  }

  has(mark: number, at: number): boolean {
    return ((this.#characters[at & this.#mask] ?? 0) & (mark << UNIT_BITS)) !== 0;
  }

  /** Index in the original text. */
  indexOf(at: number): number {
    return this.#indexes[at & this.#mask] ?? 0;
  }

  textOf({ start, end }: Place): string {
    let text = '';
    for (let at = start; at < end; at += 1)
      text += String.fromCharCode((this.#characters[at & this.#mask] ?? 0) & UNIT_MASK);
    return text;
  }
}

class GrowingScan implements WordScan, FoldedSink {
  readonly #machine: AhoCorasick;
  readonly #phrases: ReadonlyMap<string, readonly Breaks[]>;
  readonly #longest: number;
  #fold = new TextFold();
  #text = '';
  #read = '';
  /** Enough for the longest word, the character before it and the one after it. */
  #newest: NewestCharacters | undefined;
  /** State of the machine after them. */
  #node = 0;
  /** Where a word begins that the next character may still change into a part of another; the longest, if there are several. */
  #pendingFrom: number | undefined;
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
    const read = this.#fold.add(text.slice(this.#read.length, end), this.#read.length, this);
    this.#read = text.slice(0, this.#read.length + read);
    if (isWhole || this.#fold.endsWithGap) this.#endPending(true);
    return { hasWord: this.#hasWord, showableChars: Math.min(this.#pendingFrom ?? end, end) };
  }

  readChars(text: string): number {
    return isContinued(text, this.#read) ? this.#read.length : 0;
  }

  take(unit: number, marks: number, index: number): void {
    const newest = (this.#newest ??= new NewestCharacters(this.#longest + 2));
    newest.push(unit, marks, index);
    if (this.#pendingFrom !== undefined) this.#endPending(endsWord(newest));
    this.#node = this.#machine.follow(this.#node, unit);
    for (const length of this.#machine.wordsAt(this.#node)) this.#judge(newest, length);
  }

  /** In scripts with spaces, a word counts only between boundaries: `ass` is not a part of `class`. */
  #judge(newest: NewestCharacters, length: number): void {
    const place = { start: newest.count - length, end: newest.count };
    const phrases = this.#phrases.get(newest.textOf(place)) ?? [NO_BREAKS];
    if (!phrases.some((breaks) => isWrittenAs(newest, place, breaks)) || beginsInsideWord(newest, place.start)) return;
    if (!newest.has(MARKS.isSpaced, place.end - 1)) this.#hasWord = true;
    // The longest word is judged first.
    else this.#pendingFrom ??= newest.indexOf(place.start);
  }

  #endPending(isWord: boolean): void {
    if (this.#pendingFrom !== undefined && isWord) this.#hasWord = true;
    this.#pendingFrom = undefined;
  }

  #restart(): void {
    this.#fold = new TextFold();
    this.#read = '';
    this.#newest = undefined;
    this.#node = 0;
    this.#pendingFrom = undefined;
    this.#hasWord = false;
  }
}

/** Whether the newest character belongs to another word than the one before it, which is of a script with spaces. */
function endsWord(newest: NewestCharacters): boolean {
  const at = newest.count - 1;
  return !newest.has(MARKS.isSpaced, at) || newest.has(MARKS.isAfterGap, at);
}

function beginsInsideWord(newest: NewestCharacters, start: number): boolean {
  if (start === 0 || !newest.has(MARKS.isSpaced, start) || newest.has(MARKS.isAfterGap, start)) return false;
  return newest.has(MARKS.isSpaced, start - 1);
}

/** A mark may stand anywhere, also in place of a space; a space only between the words of a phrase. */
function isWrittenAs(newest: NewestCharacters, { start, end }: Place, breaks: Breaks): boolean {
  for (let at = start + 1; at < end; at += 1)
    if (breaks.has(at - start) ? !newest.has(MARKS.isAfterGap, at) : newest.has(MARKS.isAfterSpace, at)) return false;
  return true;
}
