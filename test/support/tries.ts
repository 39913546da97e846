const SHARE = { fast: 0.2, full: 1, long: 5 };

export type TestTier = keyof typeof SHARE;

/** The tier that runs: `npm test` is fast, `npm run test:all` full, `npm run test:long` long (jest.config.js). */
export function testTier(): TestTier {
  return (process.env['TEST_TIER'] ?? 'full') as TestTier;
}

/** Number of runs of a property: `full` in the full tier, a fifth in the fast tier, five times as many in the long tier. */
export function tries(full: number): number {
  return Math.ceil(full * SHARE[testTier()]);
}
