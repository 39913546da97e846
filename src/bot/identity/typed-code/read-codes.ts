import { compatibleForm, stripInvisible } from '../../../shared/text/sanitize-text.ts';

/**
 * How closely a text resembles a sign-in code:
 * - `shown`: four symbols, a dash, four symbols, with letters and digits, as the page shows it;
 * - `mixed`: letters and digits without that dash;
 * - `plain`: only letters or only digits, like ordinary words and numbers; a valid code only if O, I or L was typed for its
 *   one digit.
 */
export type CodeShape = 'shown' | 'mixed' | 'plain';

/** A possible sign-in code in a message. */
export interface ReadCode {
  /** Eight symbols of Crockford's base 32. */
  code: string;
  look: CodeShape;
  /** Whether the message contains only this code. */
  isWhole: boolean;
}

const SYMBOLS = /^[0-9A-HJKMNP-TV-Z]{8}$/;
const DASHES = '\\p{Pd}\\u2212';
const BETWEEN = `[\\s_${DASHES}]`;
/** Eight symbols with a dash, spaces and some quotes or asterisks. */
const MAX_WHOLE_CHARS = 40;
/** Enough for any honest message. Limits the guesses per message. */
const MAX_CODES = 5;

/**
 * `four-four` within a longer text, or eight capitals and digits in a row, but not part of something longer such as a UUID.
 */
const WITHIN = new RegExp(
  `(?<![A-Za-z0-9_${DASHES}])(?:[A-Za-z0-9]{4}\\s?[${DASHES}]\\s?[A-Za-z0-9]{4}|[A-Z0-9]{8})(?![A-Za-z0-9_${DASHES}])`,
  'gu',
);

/**
 * Finds possible sign-in codes: the message as a whole, or else unmistakable codes within it. Accepts lower case, full-width
 * characters, missing or other dashes, spaces, and O, I and L for 0 and 1.
 */
export function readCodes(text: string): ReadCode[] {
  const normal = stripInvisible(compatibleForm(text));
  const whole = text.length <= MAX_WHOLE_CHARS ? readWhole(normal) : undefined;
  if (whole) return [whole];
  const found = [...normal.matchAll(WITHIN)].flatMap(([piece]) => readWhole(piece) ?? []);
  return found
    .filter(({ look }) => look !== 'plain')
    .map((code) => ({ ...code, isWhole: false }))
    .slice(0, MAX_CODES);
}

function readWhole(normal: string): ReadCode | undefined {
  const trimmed = normal.replace(/^[^\p{L}\p{N}]+|(?<![^\p{L}\p{N}])[^\p{L}\p{N}]+$/gu, '');
  const bare = trimmed.replace(new RegExp(BETWEEN, 'gu'), '').replace(/[a-z]/g, (letter) => letter.toUpperCase());
  const code = bare.replace(/O/g, '0').replace(/[IL]/g, '1');
  if (!SYMBOLS.test(code)) return undefined;
  const isMixed = /[A-Z]/.test(bare) && /[0-9]/.test(bare);
  // Letters separated by spaces are words. A code of letters only may contain a gap only in its middle.
  if (!isMixed && !new RegExp(`^[A-Za-z0-9]{4}${BETWEEN}*[A-Za-z0-9]{4}$`, 'u').test(trimmed)) return undefined;
  const isParted = new RegExp(`^[A-Za-z0-9]{4}\\s*[${DASHES}]\\s*[A-Za-z0-9]{4}$`, 'u').test(trimmed);
  return { code, look: isMixed ? (isParted ? 'shown' : 'mixed') : 'plain', isWhole: true };
}
