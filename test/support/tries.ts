const LONG_TIMES = 5;

/** How often a property is tried: so often in each run of the tests, five times as often in `npm run test:long`. */
export function tries(always: number): number {
  return always * (process.env['TEST_LONG'] === undefined ? 1 : LONG_TIMES);
}
