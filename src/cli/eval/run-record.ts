import { z } from 'zod';

/** One question of a run. */
export interface Result {
  ask: string;
  as: string;
  in: string;
  /** Nothing is wrong with it. */
  holds: boolean;
  faults: string[];
  text: string;
  beside: string;
  tookMs: number;
}

/** A run as it is kept, to be compared with a later one. */
export interface RunRecord {
  version: 1;
  /** ISO 8601. */
  at: string;
  questions: string;
  model: string;
  results: Result[];
}

const recordSchema: z.ZodType<RunRecord> = z.object({
  version: z.literal(1),
  at: z.string(),
  questions: z.string(),
  model: z.string(),
  results: z.array(
    z.object({
      ...{ ask: z.string(), as: z.string(), in: z.string(), holds: z.boolean() },
      ...{ faults: z.array(z.string()), text: z.string(), beside: z.string(), tookMs: z.number() },
    }),
  ),
});

/** @returns undefined for what is no run's record */
export function readRun(text: string): RunRecord | undefined {
  try {
    return recordSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** How one question did in the two runs. */
export type Change = 'same' | 'better' | 'worse' | 'new';

/** Of each result, how it compares with the same question of an earlier run: asked in the same words, as the same, in the same place. */
export function compareRuns(results: readonly Result[], before: RunRecord | undefined): Change[] {
  const keyOf = ({ ask, as, in: place }: Result) => JSON.stringify([ask, as, place]);
  const earlier = new Map(before?.results.map((one) => [keyOf(one), one.holds]));
  return results.map((one) => {
    const held = earlier.get(keyOf(one));
    if (held === undefined) return 'new';
    if (held === one.holds) return 'same';
    return one.holds ? 'better' : 'worse';
  });
}
