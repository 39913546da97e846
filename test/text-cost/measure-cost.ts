import type { Run } from './hostile-runs.ts';

/** One step that walks a text which somebody else wrote. */
export type TextStep = (text: string) => unknown;

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
const HOPELESS_MS = 2_000;

/**
 * Judges by processor time, not by the clock, whether a step's cost grows as its text does.
 * @returns undefined, or what is wrong
 */
export async function growthFault(step: TextStep, run: Run): Promise<string | undefined> {
  for (const chars of FIRST_CHARS) {
    const ms = await leastMs(step, run.of(chars), MOST_AT_FIRST_MS);
    if (ms > MOST_AT_FIRST_MS) return `${chars} characters take ${Math.round(ms)} ms`;
  }
  const largeMs = await leastMs(step, run.of(LARGE_CHARS), QUICK_MS);
  if (largeMs <= QUICK_MS) return undefined;
  const smallMs = await leastMs(step, run.of(SMALL_CHARS), 0);
  if (largeMs <= MOST_GROWTH * smallMs) return undefined;
  return `${SMALL_CHARS} characters take ${smallMs.toFixed(1)} ms, ${LARGE_CHARS} take ${largeMs.toFixed(1)} ms`;
}

/** The least of several tries; one that is at most `enoughMs` ends them, and so does one that no noise explains. */
async function leastMs(step: TextStep, text: string, enoughMs: number): Promise<number> {
  let least = HOPELESS_MS - 1;
  for (let attempt = 0; attempt < TRIES && least > enoughMs && least < HOPELESS_MS; attempt += 1) {
    const before = process.cpuUsage();
    await step(text);
    const { user, system } = process.cpuUsage(before);
    const tookMs = (user + system) / 1_000;
    least = attempt === 0 ? tookMs : Math.min(least, tookMs);
  }
  return least;
}
