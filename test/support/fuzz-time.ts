import { tries } from './tries.ts';

const DEFAULT_FUZZ_SEC = tries(1);

const wantedSec = Number(process.env['FUZZ_SEC']);

/** Duration of each fuzzer: 1 s in the full tier, 5 s in the long one, more with `FUZZ_SEC=600 npm test -- test/…`. */
export const fuzzMs = (wantedSec > 0 ? wantedSec : DEFAULT_FUZZ_SEC) * 1_000;

/** The timeout of a fuzzer's test: its duration plus time to start, to shrink a failure, and to stop. */
export const fuzzTestMs = fuzzMs + 30_000;
