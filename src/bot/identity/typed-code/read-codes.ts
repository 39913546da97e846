import { compatibleForm, withoutUnseen } from '../../../shared/text/sanitize-text.ts';

/**
 * How much a text looks like a sign-in code:
 * - `shown`: four, a dash, four, with letters and digits, as the page shows it;
 * - `mixed`: letters and digits without that dash;
 * - `plain`: letters alone or digits alone, as ordinary words and numbers are too; a code only when O, I or L was typed
 *   for its one digit.
 */
export type CodeShape = 'shown' | 'mixed' | 'plain';

/** A sign-in code that somebody may have typed. */
export interface ReadCode {
  /** Eight symbols of Crockford's base 32. */
  code: string;
  look: CodeShape;
  /** Whether the message is nothing but this code. */
  isWhole: boolean;
}

const SYMBOLS = /^[0-9A-HJKMNP-TV-Z]{8}$/;
const DASHES = '\\p{Pd}\\u2212';
const BETWEEN = `[\\s_${DASHES}]`;
/** Eight symbols with dash, spaces and some quotes or asterisks around. */
const MOST_WHOLE_CHARS = 40;
/** Enough for every honest message; more would let one message ask about many guesses. */
const MOST_CODES = 5;

/** `four-four` within a longer text, or eight capitals and digits in a row; no piece of something longer such as a UUID. */
const WITHIN = new RegExp(
  `(?<![A-Za-z0-9_${DASHES}])(?:[A-Za-z0-9]{4}\\s?[${DASHES}]\\s?[A-Za-z0-9]{4}|[A-Z0-9]{8})(?![A-Za-z0-9_${DASHES}])`,
  'gu',
);

/**
 * The sign-in codes that a message may hold: the message as a whole, or else what stands within it and can hardly be
 * anything else. Forgives case, full-width forms, missing or other dashes, spaces, and O, I and L for 0 and 1.
 */
export function readCodes(text: string): ReadCode[] {
  const normal = withoutUnseen(compatibleForm(text));
  const whole = text.length <= MOST_WHOLE_CHARS ? readWhole(normal) : undefined;
  if (whole) return [whole];
  const found = [...normal.matchAll(WITHIN)].flatMap(([piece]) => readWhole(piece) ?? []);
  return found
    .filter(({ look }) => look !== 'plain')
    .map((code) => ({ ...code, isWhole: false }))
    .slice(0, MOST_CODES);
}

function readWhole(normal: string): ReadCode | undefined {
  const trimmed = normal.replace(/^[^\p{L}\p{N}]+|(?<![^\p{L}\p{N}])[^\p{L}\p{N}]+$/gu, '');
  const bare = trimmed.replace(new RegExp(BETWEEN, 'gu'), '').replace(/[a-z]/g, (letter) => letter.toUpperCase());
  const code = bare.replace(/O/g, '0').replace(/[IL]/g, '1');
  if (!SYMBOLS.test(code)) return undefined;
  const isMixed = /[A-Z]/.test(bare) && /[0-9]/.test(bare);
  // Words with spaces between them are words; a code of letters alone may only be parted in its middle.
  if (!isMixed && !new RegExp(`^[A-Za-z0-9]{4}${BETWEEN}*[A-Za-z0-9]{4}$`, 'u').test(trimmed)) return undefined;
  const isParted = new RegExp(`^[A-Za-z0-9]{4}\\s*[${DASHES}]\\s*[A-Za-z0-9]{4}$`, 'u').test(trimmed);
  return { code, look: isMixed ? (isParted ? 'shown' : 'mixed') : 'plain', isWhole: true };
}
