import { SIMPLIFIED } from '../../shared/text/simplified-characters.ts';

/** Facts of a folded character, as bits. */
export const MARKS = {
  /** Part of a script that separates words by spaces. */
  isSpaced: 1,
  /** A space or a mark stood before it and was removed. */
  isAfterGap: 2,
  /** A space separates it from the character before it, and both are of scripts that separate words by spaces. */
  isAfterSpace: 4,
};

/** Takes folded characters. Numbers, because an object for each would be most of the garbage of a checked answer. */
export interface FoldedSink {
  /**
   * @param unit UTF-16 unit, without case, width, accents, and the difference between both Chinese scripts
   * @param marks bits of `MARKS`
   * @param index in the original text
   */
  take(unit: number, marks: number, index: number): void;
}

/** Scripts that write words without spaces between them. */
const JOINED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
/** Letters and digits, except invisible fillers and the Arabic mark that stretches words. */
const KEPT = /(?!\p{Default_Ignorable_Code_Point}|\u0640)[\p{L}\p{N}]/u;
const SPACE = /\s/;
const FIRST_HAN = 0x4e00;
const LAST_HAN = 0x9fff;
const GAP = 0;
const WHITE_SPACE = 32;
/** The unit of each ASCII character: of a small letter or a digit, of a space for white space, or 0 for a mark. */
const ASCII = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (SPACE.test(character)) return WHITE_SPACE;
  return KEPT.test(character) ? character.toLowerCase().charCodeAt(0) : GAP;
});

/** Folds a text piece by piece. Spaces, marks, accents, symbols and invisible characters are removed. */
export class TextFold {
  #hasGap = true;
  #hasSpace = false;
  #wasSpaced = false;

  /** Whether a space or a mark follows the newest kept character. */
  get endsWithGap(): boolean {
    return this.#hasGap;
  }

  /**
   * Folds a piece.
   * @param at index of the piece in the original text
   * @returns how many of its units were read: half a character at its end is left for later
   */
  add(piece: string, at: number, to: FoldedSink): number {
    let read = 0;
    while (read < piece.length) {
      const first = piece.charCodeAt(read);
      const isHalf = first >= 0xd800 && first <= 0xdbff;
      if (isHalf && read + 1 === piece.length) break;
      const code = isHalf ? (piece.codePointAt(read) ?? 0) : first;
      this.#addCharacter(to, code, at + read);
      read += code > 0xffff ? 2 : 1;
    }
    return read;
  }

  #addCharacter(to: FoldedSink, code: number, index: number): void {
    if (code >= FIRST_HAN && code <= LAST_HAN) return this.#keepHan(to, SIMPLIFIED[code] ?? code, index);
    const plain = ASCII[code];
    if (plain === undefined) this.#addOther(to, code, index);
    else if (plain === WHITE_SPACE) this.#hasSpace = this.#hasGap = true;
    else if (plain === GAP) this.#hasGap = true;
    else this.#keepUnit(to, plain, index, true);
  }

  #addOther(to: FoldedSink, code: number, index: number): void {
    for (const unit of String.fromCodePoint(code).normalize('NFKD')) {
      if (SPACE.test(unit)) this.#hasSpace = this.#hasGap = true;
      else if (!KEPT.test(unit)) this.#hasGap ||= !/\p{M}/u.test(unit);
      else {
        const isSpaced = !JOINED.test(unit);
        const simple = unit.length === 1 ? String.fromCodePoint(SIMPLIFIED[unit.charCodeAt(0)] ?? 0) : unit;
        for (const lower of simple.toUpperCase().toLowerCase())
          if (KEPT.test(lower))
            for (const half of lower.split('')) this.#keepUnit(to, half.charCodeAt(0), index, isSpaced);
      }
    }
  }

  /** Some traditional characters have a simplified form of two units. */
  #keepHan(to: FoldedSink, code: number, index: number): void {
    if (code <= 0xffff) return this.#keepUnit(to, code, index, false);
    for (const half of String.fromCodePoint(code).split('')) this.#keepUnit(to, half.charCodeAt(0), index, false);
  }

  #keepUnit(to: FoldedSink, unit: number, index: number, isSpaced: boolean): void {
    const spaced = isSpaced ? MARKS.isSpaced : 0;
    const afterGap = this.#hasGap ? MARKS.isAfterGap : 0;
    const afterSpace = this.#hasSpace && this.#wasSpaced && isSpaced ? MARKS.isAfterSpace : 0;
    to.take(unit, spaced | afterGap | afterSpace, index);
    this.#hasGap = this.#hasSpace = false;
    this.#wasSpaced = isSpaced;
  }
}

/** @returns the folded text of a whole word or phrase, its words separated by one space */
export function foldText(text: string): string {
  let folded = '';
  const take = (unit: number, marks: number) => {
    folded += ((marks & MARKS.isAfterSpace) === 0 ? '' : ' ') + String.fromCharCode(unit);
  };
  new TextFold().add(text, 0, { take });
  return folded;
}
