import { tries } from './tries.ts';

const DEFAULT_FUZZ_SEC = tries(1);

const wantedSec = Number(process.env['FUZZ_SEC']);

/** How long each fuzzer looks for a fault: 1 s in the suite, 5 s in the long one, longer with `FUZZ_SEC=600 npm test -- test/…`. */
export const fuzzMs = (wantedSec > 0 ? wantedSec : DEFAULT_FUZZ_SEC) * 1_000;

/** The timeout of a fuzzer's test: its own time, and enough to start, to narrow down what it found, and to stop. */
export const fuzzTestMs = fuzzMs + 30_000;
