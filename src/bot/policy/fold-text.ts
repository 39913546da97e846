import { SIMPLIFIED } from '../../shared/text/simplified-characters.ts';

/** One character as words are compared: without case, width, accents, and the difference between both Chinese scripts. */
export interface FoldedCharacter {
  /** One UTF-16 unit. */
  unit: string;
  /** Index in the original text. */
  from: number;
  /** Part of a script that separates words by spaces. */
  isSpaced: boolean;
  /** A space or a mark stood before it and was removed. */
  isAfterGap: boolean;
  /** A space separates it from the character before it, and both are of scripts that separate words by spaces. */
  isAfterSpace: boolean;
}

/** Scripts that write words without spaces between them. */
const JOINED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
/** Letters and digits, except invisible fillers and the Arabic mark that stretches words. */
const KEPT = /(?!\p{Default_Ignorable_Code_Point}|\u0640)[\p{L}\p{N}]/u;
const SPACE = /\s/;
const FIRST_HAN = 0x4e00;
const LAST_HAN = 0x9fff;
/** Of each ASCII character: a small letter or a digit, a space for white space, or nothing for a mark. */
const ASCII = Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (SPACE.test(character)) return ' ';
  return KEPT.test(character) ? character.toLowerCase() : '';
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
   * @param at index of the piece in the original text
   * @returns what the piece adds, and how many of its units were read: half a character at its end is left for later
   */
  add(piece: string, at: number): { added: FoldedCharacter[]; read: number } {
    const added: FoldedCharacter[] = [];
    let read = 0;
    while (read < piece.length) {
      const code = piece.codePointAt(read) ?? 0;
      const units = code > 0xffff ? 2 : 1;
      const isHalf = code >= 0xd800 && code <= 0xdbff;
      if (isHalf && read + 1 === piece.length) break;
      this.#addCharacter(added, code, at + read);
      read += units;
    }
    return { added, read };
  }

  #addCharacter(added: FoldedCharacter[], code: number, from: number): void {
    if (code >= FIRST_HAN && code <= LAST_HAN) {
      this.#keepUnit(added, String.fromCharCode(SIMPLIFIED[code] ?? code), from, false);
      return;
    }
    const plain = ASCII[code];
    if (plain !== undefined) {
      if (plain === ' ') this.#hasSpace = this.#hasGap = true;
      else if (plain === '') this.#hasGap = true;
      else this.#keepUnit(added, plain, from, true);
      return;
    }
    for (const unit of String.fromCodePoint(code).normalize('NFKD')) {
      if (SPACE.test(unit)) this.#hasSpace = this.#hasGap = true;
      else if (!KEPT.test(unit)) this.#hasGap ||= !/\p{M}/u.test(unit);
      else {
        const isSpaced = !JOINED.test(unit);
        const simple = unit.length === 1 ? String.fromCharCode(SIMPLIFIED[unit.charCodeAt(0)] ?? 0) : unit;
        for (const lower of simple.toUpperCase().toLowerCase())
          if (KEPT.test(lower)) for (const half of lower.split('')) this.#keepUnit(added, half, from, isSpaced);
      }
    }
  }

  #keepUnit(added: FoldedCharacter[], unit: string, from: number, isSpaced: boolean): void {
    const isAfterSpace = this.#hasSpace && this.#wasSpaced && isSpaced;
    added.push({ unit, from, isSpaced, isAfterGap: this.#hasGap, isAfterSpace });
    this.#hasGap = this.#hasSpace = false;
    this.#wasSpaced = isSpaced;
  }
}

/** @returns the folded text of a whole word or phrase, its words separated by one space */
export function foldText(text: string): string {
  return new TextFold()
    .add(text, 0)
    .added.map(({ unit, isAfterSpace }) => (isAfterSpace ? ` ${unit}` : unit))
    .join('');
}
