import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';
import { ConfigFileError } from '../../shared/json-file.ts';
import { foldText, TextFold, type FoldedCharacter } from './fold-text.ts';
import { WordMachine } from './word-machine.ts';

/** Result of a scan. */
export interface Scanned {
  hasWord: boolean;
  /** How much of the text may be shown: a word that may be complete at its end waits for the next character. */
  showableChars: number;
}

/** Scans one growing text. Each call costs as much as what the text gained. */
export interface WordScan {
  /**
   * @param isWhole nothing is added to the text any more
   * @param end how much of the text is read now; the rest is read by the next call
   */
  scan(text: string, isWhole?: boolean, end?: number): Scanned;
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
  const building = WordMachine.build(words);
  let step = building.next();
  while (step.done !== true) step = building.next();
  return listWith(step.value, words);
}

/** The same in slices, between which turns go on. */
export async function createWordListSlowly(words: readonly string[]): Promise<WordList | undefined> {
  const building = WordMachine.build(words);
  let step = building.next();
  while (step.done !== true) {
    await nextEventLoopTurn();
    step = building.next();
  }
  return listWith(step.value, words);
}

function listWith(machine: WordMachine, words: readonly string[]): WordList | undefined {
  if (words.length === 0) return undefined;
  const longest = words.reduce((most, word) => Math.max(most, word.length), 0);
  return { begin: () => new GrowingScan(machine, longest) };
}

class GrowingScan implements WordScan {
  readonly #machine: WordMachine;
  readonly #longest: number;
  #fold = new TextFold();
  #text = '';
  #read = '';
  /** The newest folded characters: the longest word and the character before it. */
  #window: FoldedCharacter[] = [];
  #isCut = false;
  #hasWord = false;

  constructor(machine: WordMachine, longest: number) {
    this.#machine = machine;
    this.#longest = longest;
  }

  scan(text: string, isWhole = false, end = text.length): Scanned {
    // A text that was taken back begins again. The same text in parts is not compared each time.
    if (text !== this.#text && !text.startsWith(this.#read)) this.#restart();
    this.#text = text;
    const { added, read } = this.#fold.add(text.slice(this.#read.length, end), this.#read.length);
    this.#read = text.slice(0, this.#read.length + read);
    const characters = [...this.#window, ...added];
    let showableChars = end;
    for (const { start, end: after } of this.#machine.search(characters.map(({ unit }) => unit).join(''))) {
      // The character before it has left the window, so this word was judged before.
      if (start === 0 && this.#isCut) continue;
      const judged = judge(characters, { start, end: after }, isWhole || this.#fold.endsWithGap);
      if (judged === 'word') this.#hasWord = true;
      if (judged === 'pending') showableChars = Math.min(showableChars, characters[start]?.from ?? 0);
    }
    this.#isCut ||= characters.length > this.#longest + 1;
    this.#window = characters.slice(-this.#longest - 1);
    return { hasWord: this.#hasWord, showableChars };
  }

  #restart(): void {
    this.#fold = new TextFold();
    this.#read = '';
    this.#window = [];
    this.#isCut = false;
    this.#hasWord = false;
  }
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
