import { z } from 'zod';
import { parseJson } from '../../shared/parse-json.ts';

const resultSchema = z.object({
  ask: z.string(),
  as: z.string(),
  in: z.string(),
  /** Whether there are no faults. */
  holds: z.boolean(),
  faults: z.array(z.string()),
  text: z.string(),
  beside: z.string(),
  tookMs: z.number(),
});

const recordSchema = z.object({
  version: z.literal(1),
  /** ISO 8601. */
  at: z.string(),
  questions: z.string(),
  model: z.string(),
  results: z.array(resultSchema),
});

/** The result of one question. */
export type Result = z.infer<typeof resultSchema>;

/** A stored run, for comparison with a later one. */
export type RunRecord = z.infer<typeof recordSchema>;

/** @returns undefined if it is not a run record */
export function readRun(text: string): RunRecord | undefined {
  return recordSchema.safeParse(parseJson(text)).data;
}

/** How a question's result changed between two runs. */
export type Change = 'same' | 'better' | 'worse' | 'new';

/** Compares each result with the same question of an earlier run: same text, same user and same place. */
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
