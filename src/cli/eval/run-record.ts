import { z } from 'zod';
import { parseJson } from '../../shared/parse-json.ts';

/** The result of one question. */
export interface Result {
  ask: string;
  as: string;
  in: string;
  /** Whether there are no faults. */
  holds: boolean;
  faults: string[];
  text: string;
  beside: string;
  tookMs: number;
}

/** A stored run, for comparison with a later one. */
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
