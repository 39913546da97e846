import type { z } from 'zod';
import { jsonFaultInWords, readJson } from './read-json.ts';
import { inOurWords, placeInFile } from './schema-words.ts';

/** What a file says, or each thing to mend in it, in words and with its place. */
export type FileRead<Output> = { ok: true; data: Output } | { ok: false; isJson: boolean; faults: string[] };

/** Reads the text of a JSON file that an administrator writes. */
export function readJsonFile<Output>(text: string, schema: z.ZodType<Output>): FileRead<Output> {
  const json = readJson(text);
  if (!json.ok) return { ok: false, isJson: false, faults: [jsonFaultInWords(json.fault)] };
  const parsed = schema.safeParse(json.value, { error: inOurWords });
  if (parsed.success) return { ok: true, data: parsed.data };
  const faults = parsed.error.issues.map(({ path, message }) => `${placeInFile(path)}: ${message}`);
  return { ok: false, isJson: true, faults };
}
