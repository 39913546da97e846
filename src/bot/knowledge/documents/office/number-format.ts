/**
 * The kind of values that a format section shows. `exponent` covers scientific notation and fractions; both are shown as
 * plain numbers.
 */
type SectionKind = 'number' | 'exponent' | 'date' | 'time' | 'duration';

/** An element of a section: literal text, a digit placeholder, or the place for the decimals, a whole number or a text. */
type Piece = { literal: string } | 'zero' | 'digit' | 'decimals' | 'general' | 'text';

/** One section of a format code. Sections are separated by semicolons. */
interface Section {
  kind: SectionKind;
  pieces: readonly Piece[];
  /** Number of decimal places that are always shown. */
  decimals: number;
  /** If false, a duration is shown as 36:00. */
  hasSeconds: boolean;
  /** Power of ten by which the value is multiplied: 2 for each percent sign, -3 for each trailing comma. */
  power: number;
  condition?: (value: number) => boolean;
}

export type NumberFormat = readonly Section[];

/** The number as text, or the kind of date or time that it represents. */
export type ShownNumber =
  { kind: 'text'; text: string } | { kind: 'date' | 'time' } | { kind: 'duration'; hasSeconds: boolean };

/** Excel's limit. */
const MAX_CODE_CHARS = 255;
const SIGNIFICANT_DIGITS = 15;
const TOKENS = /"[^"]*"?|\\[^]?|[_*][^]?|\[[^[\]]*\]?|General|AM\/PM|A\/P|E[+-]|(?<=s)\.0+|[^]/giu;
const CONDITION = /^(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)$/;

/** Parses a SpreadsheetML format code (ECMA-376 part 1, 18.8.31). Never fails: any text is a valid format code. */
export function parseNumberFormat(code: string): NumberFormat {
  const sections: string[][] = [[]];
  for (const [token] of code.slice(0, MAX_CODE_CHARS).matchAll(TOKENS)) {
    if (token === ';') sections.push([]);
    else sections.at(-1)?.push(token);
  }
  return sections.map(parseSection);
}

function parseSection(tokens: readonly string[]): Section {
  const pieces: Piece[] = [];
  const section: Section = { kind: kindOf(tokens), pieces, decimals: 0, power: 0, hasSeconds: tokens.some(isSeconds) };
  let isBehindPoint = false;
  let digits = 0;
  let commas = 0;
  let zeros = 0;
  for (const token of tokens) {
    if (token === '0' || token === '#' || token === '?') {
      commas = 0;
      digits += 1;
      if (!isBehindPoint) pieces.push(token === '0' ? 'zero' : 'digit');
      else if (token === '0') zeros += 1;
      if (isBehindPoint) section.decimals = zeros;
    } else if (token === '.' && !isBehindPoint) {
      section.power -= 3 * commas;
      commas = 0;
      isBehindPoint = true;
      pieces.push('decimals');
    } else if (token === ',' && digits > 0) commas += 1;
    else if (token.toLowerCase() === 'general') pieces.push('general');
    else if (token === '@') pieces.push('text');
    else {
      if (token === '%') section.power += 2;
      if (token.startsWith('[')) section.condition ??= conditionOf(token.slice(1, -1));
      const literal = literalOf(token);
      if (literal !== '') pieces.push({ literal });
    }
  }
  section.power -= 3 * commas;
  if (!isBehindPoint && digits > 0) {
    const lastDigit = pieces.findLastIndex((piece) => piece === 'zero' || piece === 'digit');
    pieces.splice(lastDigit + 1, 0, 'decimals');
  }
  return section;
}

function kindOf(tokens: readonly string[]): SectionKind {
  const words = tokens.filter((token) => !/^(?:["\\_*]|General$)/i.test(token));
  if (words.some((token) => /^\[(?:h+|m+|s+)\]$/i.test(token))) return 'duration';
  const signs = words.filter((token) => !token.startsWith('['));
  const hasDigits = signs.some((token) => /^[0#?]$/.test(token));
  if (hasDigits) return signs.some((token) => /^E[+-]$|^\/$/i.test(token)) ? 'exponent' : 'number';
  if (signs.some((token) => /^[ydgea]$/i.test(token))) return 'date';
  if (signs.some((token) => /^[hs]$/i.test(token))) return 'time';
  return signs.some((token) => /^m$/i.test(token)) ? 'date' : 'number';
}

function isSeconds(token: string): boolean {
  return /^(?:s|\[s+\])$/i.test(token);
}

/** The literal text of a token. Empty for widths, fills, colours, conditions and locales. */
function literalOf(token: string): string {
  if (token.startsWith('"')) return token.replaceAll('"', '');
  if (token.startsWith('\\')) return token.slice(1);
  if (token.startsWith('_') || token.startsWith('*')) return '';
  // [$¥-804] is a currency with a locale, [$-409] only a locale.
  if (token.startsWith('[')) return token.startsWith('[$') ? token.slice(2).replace(/-[^-]*$|\]$/, '') : '';
  return token;
}

function conditionOf(text: string): Section['condition'] {
  const [, operator, number] = CONDITION.exec(text) ?? [];
  const limit = Number(number);
  if (operator === '<') return (value) => value < limit;
  if (operator === '<=') return (value) => value <= limit;
  if (operator === '>') return (value) => value > limit;
  if (operator === '>=') return (value) => value >= limit;
  if (operator === '=') return (value) => value === limit;
  return operator === '<>' ? (value) => value !== limit : undefined;
}

/**
 * Formats a number. Shows leading zeros, literal text and signs as Excel does. Does not round or group digits, so that
 * searches and calculations see the stored value.
 */
export function formatNumber(value: number, format: NumberFormat): ShownNumber {
  const section = sectionFor(value, format);
  const { kind, pieces, power } = section;
  if (kind === 'duration') return { kind, hasSeconds: section.hasSeconds };
  if (kind === 'date' || kind === 'time') return { kind };
  const sign = value < 0 && !showsSign(section, format) ? '-' : '';
  if (kind === 'exponent') return { kind: 'text', text: tidyNumber(value) };
  const digits = tidyNumber(Math.abs(value) * 10 ** power);
  // The value has more digits than the format can show, such as 1e+21.
  if (digits.includes('e')) return { kind: 'text', text: sign + digits };
  return { kind: 'text', text: (sign + fill(section, pieces, digits)).trim() };
}

/** Formats a text cell by the text section, if the format has one. */
export function formatText(text: string, format: NumberFormat): string {
  const section = format[3] ?? format.find(({ pieces }) => pieces.includes('text'));
  if (!section) return text;
  return section.pieces
    .map((piece) => (typeof piece === 'object' ? piece.literal : piece === 'text' ? text : ''))
    .join('');
}

/** Rounds to 15 significant digits to remove floating-point noise. */
export function tidyNumber(number: number): string {
  return String(Number(number.toPrecision(SIGNIFICANT_DIGITS)));
}

function sectionFor(value: number, format: NumberFormat): Section {
  // A later section with `@` is for texts.
  const [first, second, third] = format.slice(0, 3).filter((one, at) => at === 0 || !one.pieces.includes('text')) as [
    Section,
    Section?,
    Section?,
  ];
  if (first.condition ?? second?.condition) {
    if (first.condition ? first.condition(value) : value > 0) return first;
    return second?.condition?.(value) === false ? (third ?? second) : (second ?? first);
  }
  if (value < 0) return second ?? first;
  return value === 0 ? (third ?? first) : first;
}

/** Whether a section itself marks its values as negative, with `(0)` or different literal text. Colours are ignored. */
function showsSign(section: Section, format: NumberFormat): boolean {
  const [first] = format as [Section];
  if (format.some(({ condition }) => condition)) return /[-(]/.test(literalsOf(section));
  return section !== first && literalsOf(section) !== literalsOf(first);
}

function literalsOf({ pieces }: Section): string {
  return pieces.map((piece) => (typeof piece === 'object' ? piece.literal : '')).join('');
}

/** Fills the digit placeholders from the right. The first placeholder takes all remaining digits. */
function fill({ decimals }: Section, pieces: readonly Piece[], digits: string): string {
  const [whole = '', fraction = ''] = digits.split('.');
  const first = pieces.findIndex((piece) => piece === 'zero' || piece === 'digit');
  const isCode = pieces.filter((piece) => piece === 'zero').length > 1;
  const shownFraction = isCode ? fraction.padEnd(decimals, '0') : fraction;
  let left = whole;
  const filled: string[] = [];
  for (const [at, piece] of [...pieces.entries()].reverse()) {
    if (typeof piece === 'object') filled.push(piece.literal);
    else if (piece === 'general' || piece === 'text') filled.push(digits);
    else if (piece === 'decimals') filled.push(shownFraction === '' ? '' : `.${shownFraction}`);
    else {
      const digit = at === first ? left : left.slice(-1);
      left = left.slice(0, -1);
      filled.push(digit === '' && piece === 'zero' ? '0' : digit);
    }
  }
  // A format without a placeholder before the decimal point, such as `.00`.
  if (first < 0 && pieces.includes('decimals')) filled.push(whole);
  return filled.reverse().join('');
}
