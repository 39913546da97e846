import { isContinued } from '../../../shared/text/is-continued.ts';
import type { MaskKind } from '../../domain/mask-kinds.ts';
import { isEmail, kindOfNumber, MAX_DIGITS, MAX_GROUPS, MIN_DIGITS } from './personal-numbers.ts';

/** What stands for a masked text, by kind. */
export type MaskWords = Readonly<Record<MaskKind, string>>;

export interface MaskRules {
  kinds: ReadonlySet<MaskKind>;
  words: MaskWords;
}

/** The longest word that can be an e-mail address, and the longest that can be a part of a number. */
const MAX_WORD = 320;
const MAX_NUMBER_WORD = 40;
/** Marks that belong to an address or number only within it. */
const LEADING = new Set([...'.%_-'].map((mark) => mark.charCodeAt(0)));
const TRAILING = /(?<![.%_+-])[.%_+-]+$/;
/** Dots separate only short groups, so that no decimal fraction is a number of a person. */
const NUMBER_WORD = /^\+?(?:\d+(?:-\d+)*|\d{3,6}(?:\.\d{3,6})+)[Xx]?$/;
const SEPARATOR = /[-.]/;

/** A group of digits in the text. */
interface Group {
  from: number;
  to: number;
  digits: string;
}

/** A complete word. */
interface Word {
  end: number;
  /** Empty if it is no number. */
  groups: readonly Group[];
  /** Exactly one space follows directly, so that the next word may belong to the same number. */
  isContinued: boolean;
}

/**
 * Masks a text that arrives in pieces. What was returned is never changed by later pieces; the end of the text is held back
 * while it may become a number or an address. Costs as much as the text is long, however it is cut.
 */
export class MaskStream {
  readonly #rules: MaskRules;
  /** The text that is not decided, the same in plain units, and how much of it is decided since. */
  #open = '';
  #plain = '';
  #at = 0;
  #isWhole = false;
  #masked = '';
  /** The decided text ends within a word that is too long for any kind. */
  #isInLongWord = false;
  /** Words ahead that were read before, by their beginning in `#open`. */
  readonly #ahead = new Map<number, Word>();

  constructor(rules: MaskRules) {
    this.#rules = rules;
  }

  /** @param isWhole nothing follows @returns what is decided now, masked */
  take(piece: string, isWhole = false): string {
    this.#open = this.#open.slice(this.#at) + piece;
    this.#plain = this.#plain.slice(this.#at) + plainUnits(piece);
    this.#at = 0;
    this.#isWhole = isWhole;
    this.#masked = '';
    this.#ahead.clear();
    while (this.#at < this.#open.length && this.#step());
    return this.#masked;
  }

  /** Decides about the next part. @returns false if that needs more text */
  #step(): boolean {
    const marks = this.#isInLongWord ? this.#at : this.#endOf(LEADING, this.#at);
    if (marks > this.#at) return this.#keep(marks);
    const end = this.#endOf(WORD_UNITS, this.#at);
    const length = end - this.#at;
    const isOpen = end === this.#open.length && !this.#isWhole;
    if (this.#isInLongWord || length > MAX_WORD) {
      this.#isInLongWord = isOpen;
      return this.#keep(end);
    }
    if (length === 0) return this.#keep(this.#endOfGap());
    return !isOpen && this.#judgeWord(end);
  }

  #judgeWord(end: number): boolean {
    const word = this.#plain.slice(this.#at, end);
    const mark = word.indexOf('@');
    if (mark < 0) return this.#wordAt(this.#at)?.groups.length === 0 ? this.#keep(end) : this.#judgeNumber();
    const { kinds } = this.#rules;
    const address = word.replace(TRAILING, '');
    // Many e-mail addresses begin with a phone number.
    const kind = kindOfNumber(groupsOf(word.slice(0, mark), 0).map(({ digits }) => digits));
    const behind = this.#at + mark + 1;
    if (kinds.has('email') && isEmail(address)) {
      this.#replace(this.#at, this.#at + address.length, 'email');
      return this.#keep(end);
    }
    if (kind && kinds.has(kind)) this.#replace(this.#at, this.#at + mark, kind);
    // What follows the mark may be a number of its own.
    return this.#keep(behind);
  }

  /** Judges the first group of a number word, together with the groups that follow it. */
  #judgeNumber(): boolean {
    const groups: Group[] = [];
    for (let at = this.#at; groups.length < MAX_GROUPS;) {
      const word = this.#wordAt(at);
      if (!word) return false;
      groups.push(...word.groups);
      if (word.groups.length === 0 || !word.isContinued) break;
      at = word.end + 1;
      if (at === this.#open.length && !this.#isWhole) return false;
    }
    let digits = 0;
    let found: { kind: MaskKind; to: number } | undefined;
    for (const [index, group] of groups.slice(0, MAX_GROUPS).entries()) {
      digits += group.digits.length;
      if (digits > MAX_DIGITS) break;
      const kind = digits < MIN_DIGITS ? undefined : kindOfNumber(groups.slice(0, index + 1).map((one) => one.digits));
      if (kind && this.#rules.kinds.has(kind)) found = { kind, to: group.to };
    }
    if (found) return this.#replace(this.#at, found.to, found.kind);
    // The next group of the word may begin a number of its own.
    const end = this.#endOf(WORD_UNITS, this.#at);
    return this.#keep(Math.min(end, groups[1]?.from ?? end));
  }

  /** @returns undefined if the word may grow */
  #wordAt(at: number): Word | undefined {
    const known = this.#ahead.get(at);
    if (known) return known;
    const end = this.#endOf(WORD_UNITS, at);
    const isShort = end - at <= MAX_WORD;
    if (isShort && end === this.#open.length && !this.#isWhole) return undefined;
    const written = isShort ? this.#plain.slice(at, end) : '';
    const bare = written.replace(TRAILING, '');
    const isFirst = at === this.#at;
    const word = {
      end,
      groups: isFirst || !bare.startsWith('+') ? groupsOf(bare, at) : [],
      isContinued: bare.length === end - at && this.#plain[end] === ' ',
    };
    this.#ahead.set(at, word);
    return word;
  }

  #keep(to: number): boolean {
    this.#masked += this.#open.slice(this.#at, to);
    this.#at = to;
    return true;
  }

  #replace(from: number, to: number, kind: MaskKind): boolean {
    this.#keep(from);
    this.#masked += this.#rules.words[kind];
    this.#at = to;
    return true;
  }

  /** The end of the units of this kind at this place; the place itself if there is none. */
  #endOf(units: ReadonlySet<number>, from: number): number {
    let at = from;
    while (at < this.#plain.length && units.has(this.#plain.charCodeAt(at))) at += 1;
    return at;
  }

  #endOfGap(): number {
    let at = this.#at;
    while (at < this.#plain.length && !WORD_UNITS.has(this.#plain.charCodeAt(at))) at += 1;
    return at;
  }
}

/** Masks one growing text, which is given as a whole each time. */
export class GrowingMask {
  readonly #rules: MaskRules;
  #stream: MaskStream;
  #text = '';
  #masked = '';

  constructor(rules: MaskRules) {
    this.#rules = rules;
    this.#stream = new MaskStream(rules);
  }

  /** @param isWhole whether the text is complete @returns the masked text, without the part that is held back */
  mask(text: string, isWhole = false): string {
    // A retracted text is masked from the start.
    if (!isContinued(text, this.#text)) {
      this.#stream = new MaskStream(this.#rules);
      this.#text = this.#masked = '';
    }
    this.#masked += this.#stream.take(text.slice(this.#text.length), isWhole);
    this.#text = text;
    return this.#masked;
  }
}

/** Masks a complete text. */
export function maskText(text: string, rules: MaskRules): string {
  return new MaskStream(rules).take(text, true);
}

/** The groups of digits of a word; none if it is no number. */
function groupsOf(bare: string, at: number): readonly Group[] {
  if (bare.length > MAX_NUMBER_WORD || !NUMBER_WORD.test(bare)) return NO_GROUPS;
  const groups: Group[] = [];
  let from = bare.startsWith('+') ? 1 : 0;
  for (const digits of bare.slice(from).toUpperCase().split(SEPARATOR)) {
    groups.push({ from: at + from, to: at + from + digits.length, digits });
    from += digits.length + 1;
  }
  return groups;
}

/** Full-width characters, hyphens and spaces as ASCII, unit by unit. Models often write hyphens and spaces that do not break. */
function plainUnits(text: string): string {
  return text
    .replace(FULL_WIDTH, (unit) => String.fromCharCode(unit.charCodeAt(0) - FULL_WIDTH_OFFSET))
    .replace(HYPHEN, '-')
    .replace(SPACE, ' ');
}

const FULL_WIDTH = /[\uff01-\uff5e]/g;
const FULL_WIDTH_OFFSET = 0xfee0;
const HYPHEN = /[\u2010-\u2013\u2212]/g;
const SPACE = /[\u00a0\u2002-\u200a\u202f\u3000]/g;
const NO_GROUPS: readonly Group[] = [];
/** Letters, digits, and the marks of addresses and numbers. */
const WORD_UNITS = new Set(
  [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+-.@_'].map((unit) => unit.charCodeAt(0)),
);
