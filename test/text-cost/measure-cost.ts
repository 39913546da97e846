import type { Run } from './hostile-runs.ts';

/** One step that processes a text of other people. */
export type TextStep = (text: string) => unknown;

/** The cost of a step for a text, in milliseconds. */
export type CostMs = (step: TextStep, text: string) => number | Promise<number>;

/** Small lengths come first: exponential cost is found while it is still short. */
const FIRST_CHARS = [16, 20, 24, 28, 32, 36, 42, 48, 56, 64, 80, 100, 150, 250, 500];
const SMALL_CHARS = 2_000;
const TIMES = 8;
const LARGE_CHARS = SMALL_CHARS * TIMES;
/** Maximum cost of a text of a few hundred characters. */
const MAX_AT_FIRST_MS = 250;
/** A step below this cost for the large text is fast enough, at any growth. */
const QUICK_MS = 40;
/** Linear cost grows by 8, quadratic cost by 64. */
const MAX_GROWTH = 24;
const TRIES = 4;
/** A cost above this is not noise. */
const HOPELESS_MS = 2_000;

/** For a doubled text linear cost doubles, and quadratic cost is multiplied by 4. */
const MAX_DOUBLING = 2.6;
/**
 * Number of consecutive jumps that mean too much growth. A step may begin at some length, so a jump from zero means nothing.
 */
const LEAPS_IN_A_ROW = 3;
/** Below this, noise jumps as well. */
const MIN_TOLD_MS = 1;
const DOUBLED_CHARS = [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000];
const ROUNDS = 3;

/** CPU time of this process, independent of other processes and of the clock. */
export const processorMs: CostMs = async (step, text) => {
  const before = process.cpuUsage();
  await step(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

/**
 * Decides by CPU time, not by the clock, whether the cost of a step is linear. A short first measurement, which a busy
 * machine may distort, finds suspects; a long one decides.
 * @returns undefined, or the fault
 */
export async function growthFault(step: TextStep, run: Run, costMs = processorMs): Promise<string | undefined> {
  const minMs = minOf(step, costMs);
  for (const chars of FIRST_CHARS) {
    const ms = await minMs(run.of(chars), MAX_AT_FIRST_MS);
    if (ms > MAX_AT_FIRST_MS) return `${chars} characters take ${Math.round(ms)} ms`;
  }
  const largeMs = await minMs(run.of(LARGE_CHARS), QUICK_MS);
  if (largeMs <= QUICK_MS) return undefined;
  const smallMs = await minMs(run.of(SMALL_CHARS), 0);
  return largeMs <= MAX_GROWTH * smallMs ? undefined : growthOverAll(minMs, run);
}

/** Uses the minimum of each length over several rounds: noise only adds, and rarely to the same length in each of them. */
async function growthOverAll(minMs: LeastMs, run: Run): Promise<string | undefined> {
  const least = new Map<number, number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const leaps = await leapsInARow(minMs, run, least);
    if (leaps < LEAPS_IN_A_ROW) return undefined;
    if (Math.max(...least.values()) >= HOPELESS_MS) break;
  }
  const told = [...least].map(([chars, ms]) => `${chars} characters take ${ms.toFixed(1)} ms`);
  return told.join(', ');
}

/** Lengthens the text until its cost has grown too much often enough, or can no longer. */
async function leapsInARow(minMs: LeastMs, run: Run, least: Map<number, number>): Promise<number> {
  let leaps = 0;
  let beforeMs = Infinity;
  for (const [index, chars] of DOUBLED_CHARS.entries()) {
    const ms = Math.min(least.get(chars) ?? Infinity, await minMs(run.of(chars), 0));
    least.set(chars, ms);
    leaps = beforeMs >= MIN_TOLD_MS && ms > MAX_DOUBLING * beforeMs ? leaps + 1 : 0;
    const left = DOUBLED_CHARS.length - index - 1;
    if (leaps === LEAPS_IN_A_ROW || leaps + left < LEAPS_IN_A_ROW) return leaps;
    // No linear step takes this long directly after a jump.
    if (leaps > 0 && ms >= HOPELESS_MS) return LEAPS_IN_A_ROW;
    beforeMs = ms;
  }
  return leaps;
}

type LeastMs = (text: string, enoughMs: number) => Promise<number>;

/** The minimum of several tries; a try of at most `enoughMs` ends them, and so does one that no noise explains. */
const minOf =
  (step: TextStep, costMs: CostMs): LeastMs =>
  async (text, enoughMs) => {
    let least = HOPELESS_MS - 1;
    for (let attempt = 0; attempt < TRIES && least > enoughMs && least < HOPELESS_MS; attempt += 1) {
      const tookMs = await costMs(step, text);
      least = attempt === 0 ? tookMs : Math.min(least, tookMs);
    }
    return least;
  };
