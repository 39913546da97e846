import type { MaskKind } from '../../domain/mask-kinds.ts';

/** Groups of digits as written, without the separators between them. The last one of an ID number may end in `X`. */
export type NumberGroups = readonly string[];

/** The most groups of one number: `0086 138 1234 5678` has four, a card of 19 digits five. */
export const MAX_GROUPS = 5;
/** The fewest and the most digits of one number. */
export const MIN_DIGITS = 11;
export const MAX_DIGITS = 19;

const PHONE = /^1[3-9]\d{9}$/;
const PHONE_GROUPS = ['11', '3-4-4'];
const COUNTRY_CODE = /^(?:00)?86/;
const ID_NUMBER = /^[1-9]\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dX]$/;
const ID_WEIGHTS = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
const ID_CHECKS = '10X98765432';
const CARD = /^[2-6]\d{12,18}$/;
/** Groups of four, American Express, and the two groups of Chinese bank cards. */
const CARD_GROUPS = /^(?:1[3-9]|4-4-4-[1-4]|4-4-4-4-[1-4]|4-6-5|6-13)$/;
const EMAIL = /^[\w.%+-]{1,64}@[a-z\d-]+(?:\.[a-z\d-]+)+$/i;

/** @returns the kind of number that these groups are together */
export function kindOfNumber(groups: NumberGroups): Exclude<MaskKind, 'email'> | undefined {
  const digits = groups.join('');
  if (digits.length < MIN_DIGITS) return undefined;
  const form = groups.map(({ length }) => length).join('-');
  if (ID_NUMBER.test(digits) && hasIdCheck(digits)) return 'id-number';
  if (isPhone(groups)) return 'phone';
  return CARD_GROUPS.test(form) && CARD.test(digits) && hasLuhnCheck(digits) ? 'card' : undefined;
}

export function isEmail(word: string): boolean {
  return EMAIL.test(word);
}

/** With or without the country code, which may be a group of its own. */
function isPhone(groups: NumberGroups): boolean {
  const [first = '', ...others] = groups;
  const code = COUNTRY_CODE.exec(first)?.[0];
  const rest = code === undefined ? groups : code === first ? others : [first.slice(code.length), ...others];
  return PHONE_GROUPS.includes(rest.map(({ length }) => length).join('-')) && PHONE.test(rest.join(''));
}

/** The check digit of GB 11643-1999. */
function hasIdCheck(digits: string): boolean {
  const sum = ID_WEIGHTS.reduce((total, weight, at) => total + weight * Number(digits[at]), 0);
  return ID_CHECKS[sum % 11] === digits[17];
}

function hasLuhnCheck(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const digit = Number(digits[digits.length - 1 - at]);
    const doubled = at % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
