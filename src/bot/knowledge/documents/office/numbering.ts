import { attributeOf, readXml } from './read-xml.ts';
import type { Zip } from './zip.ts';

interface Level {
  format: string;
  /** `%1` is replaced by the number of the first level. */
  text: string;
  start: number;
}

const MAX_LISTS = 5_000;
const CHINESE_DIGITS = '〇一二三四五六七八九';
const CHINESE_PLACES = ['', '十', '百', '千'];
const ROMAN = Object.entries({
  m: 1000,
  cm: 900,
  d: 500,
  cd: 400,
  c: 100,
  xc: 90,
  l: 50,
  xl: 40,
  x: 10,
  ix: 9,
  v: 5,
  iv: 4,
  i: 1,
});

/** Computes the numbers of numbered paragraphs, which are not stored in a Word document's text: 第三条, 4.2, (c). */
export class Numbering {
  readonly #levels: ReadonlyMap<string, ReadonlyMap<number, Level>>;
  readonly #listOf: ReadonlyMap<string, string>;
  readonly #counts = new Map<string, number[]>();

  private constructor(levels: Map<string, Map<number, Level>>, listOf: Map<string, string>) {
    this.#levels = levels;
    this.#listOf = listOf;
  }

  static async read(zip: Zip, part: string | undefined): Promise<Numbering> {
    const levels = new Map<string, Map<number, Level>>();
    const listOf = new Map<string, string>();
    let list = '';
    let number = '';
    let level: Level | undefined;
    if (part !== undefined)
      await readXml(zip.pieces(part), {
        open(name, attributes) {
          const value = attributeOf(attributes, 'val') ?? '';
          if (name === 'abstractNum') levels.set((list = attributeOf(attributes, 'abstractNumId') ?? ''), new Map());
          else if (name === 'lvl') {
            level = { format: 'decimal', text: '%1.', start: 1 };
            levels.get(list)?.set(Number(attributeOf(attributes, 'ilvl') ?? 0), level);
          } else if (name === 'numFmt' && level) level.format = value;
          else if (name === 'lvlText' && level) level.text = value;
          else if (name === 'start' && level) level.start = Number(value) || 0;
          else if (name === 'num') number = attributeOf(attributes, 'numId') ?? '';
          else if (name === 'abstractNumId' && listOf.size < MAX_LISTS) listOf.set(number, value);
        },
        close(name) {
          if (name === 'lvl') level = undefined;
        },
      });
    return new Numbering(levels, listOf);
  }

  /** @returns the prefix of the next paragraph of this list; a Markdown bullet if the level has no number */
  next(numId: string, depth: number): string {
    const list = this.#listOf.get(numId);
    const levels = list === undefined ? undefined : this.#levels.get(list);
    const level = levels?.get(depth);
    if (list === undefined || !levels || !level || level.format === 'bullet') return '-';
    const counts = this.#counts.get(list) ?? [];
    this.#counts.set(list, counts);
    counts.length = Math.min(counts.length, depth + 1);
    counts[depth] = (counts[depth] ?? level.start - 1) + 1;
    return level.text.replace(/%(\d)/g, (_, place: string) => {
      const at = Number(place) - 1;
      const known = levels.get(at);
      return writeNumber(counts[at] ?? known?.start ?? 1, known?.format ?? 'decimal');
    });
  }
}

function writeNumber(value: number, format: string): string {
  if (format === 'lowerLetter') return letters(value);
  if (format === 'upperLetter') return letters(value).toUpperCase();
  if (format === 'lowerRoman') return roman(value);
  if (format === 'upperRoman') return roman(value).toUpperCase();
  if (/^(chinese|ideograph|taiwanese|japaneseCounting)/.test(format)) return chinese(value);
  return String(value);
}

function letters(value: number): string {
  const letter = String.fromCharCode(97 + ((value - 1) % 26));
  return letter.repeat(Math.min(5, Math.ceil(value / 26)));
}

function roman(value: number): string {
  let left = Math.min(value, 3_999);
  let written = '';
  for (const [sign, worth] of ROMAN) for (; left >= worth; left -= worth) written += sign;
  return written;
}

function chinese(value: number): string {
  if (value > 9_999) return String(value);
  const digits = String(value);
  const written = [...digits].map((digit, index) => {
    if (digit === '0') return '〇';
    return CHINESE_DIGITS.charAt(Number(digit)) + (CHINESE_PLACES[digits.length - 1 - index] ?? '');
  });
  const whole = written
    .join('')
    .replace(/(?<!〇)〇+$/, '')
    .replace(/〇+/g, '零');
  return whole.replace(/^一十/, '十');
}
