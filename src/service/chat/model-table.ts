import { readFileSync } from 'node:fs';
import { z } from 'zod';

const modelSchema = z.strictObject({
  /** The name that callers write. */
  id: z.string().min(1),
  createdSec: z.number().int(),
  /** Sampling values when the caller names none. */
  defaults: z.strictObject({ temperature: z.number().min(0).max(1), topP: z.number().min(0).max(1) }),
  abilities: z.strictObject({
    /** Content may be a list of text and image parts. */
    images: z.boolean(),
    thinking: z.boolean(),
    /** `reasoning_effort` may be given while thinking is enabled. */
    reasoningEffort: z.boolean(),
  }),
  /** The engine's own name of this model, where an upstream engine answers; settings may name another. */
  upstreamModel: z.string().min(1).nullable(),
});

/** One model that the chat interface offers. */
export type ModelEntry = z.infer<typeof modelSchema>;

const TABLE = new URL('../../../config/service-models.json', import.meta.url);

/** Reads `config/service-models.json`. It is part of the program: a fault in it is thrown as it comes. */
export function loadModelTable(): ReadonlyMap<string, ModelEntry> {
  const models = z
    .array(modelSchema)
    .min(1)
    .parse(JSON.parse(readFileSync(TABLE, 'utf8')));
  return new Map(models.map((model) => [model.id, model]));
}
