const SHARE = { fast: 0.2, full: 0.4, long: 5 };

export type TestTier = keyof typeof SHARE;

/** The tier that runs: `npm test` is fast, `npm run test:all` full, `npm run test:long` long (jest.config.js). */
export function testTier(): TestTier {
  return (process.env['TEST_TIER'] ?? 'full') as TestTier;
}

/**
 * Number of runs of a property: two fifths of `count` in the full tier, a fifth in the fast tier, five times as many in the
 * long tier.
 */
export function tries(count: number): number {
  return Math.ceil(count * SHARE[testTier()]);
}

/**
 * The rows of a large table that a tier runs: all in the long tier, otherwise every `nth`. Tests over the same rows pass
 * different values of `from`, so that together they cover each row.
 */
export function everyNth<Row>(rows: readonly Row[], nth: number, from = 0): readonly Row[] {
  return testTier() === 'long' ? rows : rows.filter((_row, index) => (index + from) % nth === 0);
}
