import type { Run } from './hostile-runs.ts';

/** One step that walks a text which somebody else wrote. */
export type TextStep = (text: string) => unknown;

/** What a step costs for a text, in milliseconds. */
export type CostMs = (step: TextStep, text: string) => number | Promise<number>;

/** Small ones first: what grows faster than any power is found out while it can still be waited for. */
const FIRST_CHARS = [16, 20, 24, 28, 32, 36, 42, 48, 56, 64, 80, 100, 150, 250, 500];
const SMALL_CHARS = 2_000;
const TIMES = 8;
const LARGE_CHARS = SMALL_CHARS * TIMES;
/** For a text of a few hundred characters anything is too much. */
const MOST_AT_FIRST_MS = 250;
/** What costs less for the large text is quick, however it grows. */
const QUICK_MS = 40;
/** Linear cost grows by eight, the square by 64. */
const MOST_GROWTH = 24;
const TRIES = 4;
/** So much is no noise. */
const HOPELESS_MS = 2_000;

/** For a text twice as long linear cost is twice as high, the square four times. */
const MOST_DOUBLING = 2.6;
/** What grows too fast leaps this often, one after the other. A step may begin to read at some length: a leap from nothing says nothing. */
const LEAPS_IN_A_ROW = 3;
/** Below this, noise leaps as well. */
const LEAST_TOLD_MS = 1;
const DOUBLED_CHARS = [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000];
const ROUNDS = 3;

/** Processor time of this process: others, and the clock, do not count. */
export const processorMs: CostMs = async (step, text) => {
  const before = process.cpuUsage();
  await step(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

/**
 * Judges by processor time, not by the clock, whether a step's cost grows as its text does. A first snapshot, which is quick and may
 * be deceived by a busy machine, finds whom to suspect; a long one judges.
 * @returns undefined, or what is wrong
 */
export async function growthFault(step: TextStep, run: Run, costMs = processorMs): Promise<string | undefined> {
  const leastMs = leastOf(step, costMs);
  for (const chars of FIRST_CHARS) {
    const ms = await leastMs(run.of(chars), MOST_AT_FIRST_MS);
    if (ms > MOST_AT_FIRST_MS) return `${chars} characters take ${Math.round(ms)} ms`;
  }
  const largeMs = await leastMs(run.of(LARGE_CHARS), QUICK_MS);
  if (largeMs <= QUICK_MS) return undefined;
  const smallMs = await leastMs(run.of(SMALL_CHARS), 0);
  return largeMs <= MOST_GROWTH * smallMs ? undefined : growthOverAll(leastMs, run);
}

/** By the least that each length ever took in several rounds: noise only adds, and seldom to the same length in each of them. */
async function growthOverAll(leastMs: LeastMs, run: Run): Promise<string | undefined> {
  const least = new Map<number, number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const leaps = await leapsInARow(leastMs, run, least);
    if (leaps < LEAPS_IN_A_ROW) return undefined;
    if (Math.max(...least.values()) >= HOPELESS_MS) break;
  }
  const told = [...least].map(([chars, ms]) => `${chars} characters take ${ms.toFixed(1)} ms`);
  return told.join(', ');
}

/** Lengthens the text until its cost has grown too fast often enough, or cannot any more. */
async function leapsInARow(leastMs: LeastMs, run: Run, least: Map<number, number>): Promise<number> {
  let leaps = 0;
  let beforeMs = Infinity;
  for (const [index, chars] of DOUBLED_CHARS.entries()) {
    const ms = Math.min(least.get(chars) ?? Infinity, await leastMs(run.of(chars), 0));
    least.set(chars, ms);
    leaps = beforeMs >= LEAST_TOLD_MS && ms > MOST_DOUBLING * beforeMs ? leaps + 1 : 0;
    const left = DOUBLED_CHARS.length - index - 1;
    if (leaps === LEAPS_IN_A_ROW || leaps + left < LEAPS_IN_A_ROW) return leaps;
    // Nothing that is linear takes so long and has just leapt.
    if (leaps > 0 && ms >= HOPELESS_MS) return LEAPS_IN_A_ROW;
    beforeMs = ms;
  }
  return leaps;
}

type LeastMs = (text: string, enoughMs: number) => Promise<number>;

/** The least of several tries; one that is at most `enoughMs` ends them, and so does one that no noise explains. */
const leastOf =
  (step: TextStep, costMs: CostMs): LeastMs =>
  async (text, enoughMs) => {
    let least = HOPELESS_MS - 1;
    for (let attempt = 0; attempt < TRIES && least > enoughMs && least < HOPELESS_MS; attempt += 1) {
      const tookMs = await costMs(step, text);
      least = attempt === 0 ? tookMs : Math.min(least, tookMs);
    }
    return least;
  };
