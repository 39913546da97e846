import { isContinued } from '../../shared/text/is-continued.ts';
import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';
import { ConfigFileError } from '../../shared/json-file.ts';
import { FoldedText, foldText, TextFold } from './fold-text.ts';
import { ShownText } from './shown-text.ts';
import { AhoCorasick, type Place } from './aho-corasick.ts';

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
  #window = new FoldedText();
  /** State of the machine after them. */
  #node = 0;
  /** Places in the window that the next character decides. */
  #pending: Place[] = [];
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
    const knownChars = this.#window.length;
    const read = this.#fold.add(text.slice(this.#read.length, end), this.#read.length, this.#window);
    this.#read = text.slice(0, this.#read.length + read);
    const { found, node } = this.#machine.search(this.#window, knownChars, this.#node);
    this.#node = node;
    const places = [...this.#pending, ...found];
    this.#pending = [];
    for (const place of places) {
      const phrases = this.#phrases.get(this.#window.slice(place.start, place.end)) ?? [NO_BREAKS];
      if (!phrases.some((breaks) => isWrittenAs(this.#window, place, breaks))) continue;
      const judged = judge(this.#window, place, isWhole || this.#fold.endsWithGap);
      if (judged === 'word') this.#hasWord = true;
      if (judged === 'pending') this.#pending.push(place);
    }
    const showableChars = this.#pending.reduce((least, { start }) => Math.min(least, this.#window.indexAt(start)), end);
    this.#trim();
    return { hasWord: this.#hasWord, showableChars };
  }

  /** Forgets the oldest characters, not at every call. */
  #trim(): void {
    const spare = this.#window.length - this.#longest - 1;
    if (spare < this.#longest + SPARE_CHARS) return;
    this.#window.dropFirst(spare);
    this.#pending = this.#pending.map(({ start, end }) => ({ start: start - spare, end: end - spare }));
  }

  #restart(): void {
    this.#fold = new TextFold();
    this.#read = '';
    this.#window = new FoldedText();
    this.#node = 0;
    this.#pending = [];
    this.#hasWord = false;
  }
}

/** A mark may stand anywhere, also in place of a space; a space only between the words of a phrase. */
function isWrittenAs(text: FoldedText, { start, end }: Place, breaks: Breaks): boolean {
  for (let at = start + 1; at < end; at += 1)
    if (breaks.has(at - start) ? !text.isAfterGap(at) : text.isAfterSpace(at)) return false;
  return true;
}

/** In scripts with spaces, a word counts only between boundaries: `ass` is not a part of `class`. */
function judge(text: FoldedText, { start, end }: Place, isEnded: boolean): 'word' | 'part' | 'pending' {
  if (text.isSpaced(start) && !text.isAfterGap(start) && text.isSpaced(start - 1)) return 'part';
  if (!text.isSpaced(end - 1)) return 'word';
  if (end === text.length) return isEnded ? 'word' : 'pending';
  return text.isSpaced(end) && !text.isAfterGap(end) ? 'part' : 'word';
}
