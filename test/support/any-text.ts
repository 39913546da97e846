import fc from 'fast-check';

/** Number of code points without surrogates, which no UTF-8 text contains. */
const PAIR_HALVES = { from: 0xd800, count: 0x800 };
const LAST_CODE_POINT = 0x10ffff;
const character = fc
  .nat(LAST_CODE_POINT - PAIR_HALVES.count)
  .map((index) => String.fromCodePoint(index < PAIR_HALVES.from ? index : index + PAIR_HALVES.count));

/**
 * A text of any characters, including strings with a special meaning in JavaScript (`__proto__`). Lengths are in code
 * points. fast-check's own `unit: 'binary'` first builds a table of a million characters: most of a second and 140 MB for
 * each test file.
 */
export function anyText(lengths: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.array(character, lengths).map((all) => all.join('')) },
    { weight: 1, arbitrary: fc.string({ ...lengths, unit: 'binary-ascii' }) },
  );
}
