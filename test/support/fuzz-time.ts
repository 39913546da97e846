import fc from 'fast-check';
import { tries } from './tries.ts';

/** Seconds that each fuzzer runs, instead of a number of runs: `FUZZ_SEC=600 npm test -- test/…`. */
const wantedSec = Number(process.env['FUZZ_SEC'] ?? 0);

/** Options of a fuzzer. @param runs number of runs, of which a tier makes its share (test/support/tries.ts) */
export function fuzzing(runs: number): fc.Parameters<unknown> {
  if (wantedSec > 0) return { numRuns: Infinity, plugins: [fc.interruptAfterTimeLimit(wantedSec * 1_000)] };
  return { numRuns: tries(runs) };
}

/** The timeout of a fuzzer's test: its duration plus time to start, to shrink a failure, and to stop. */
export const fuzzTestMs = wantedSec * 1_000 + 60_000;
