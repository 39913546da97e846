import type { z } from 'zod';
import { parseJson } from '../../shared/parse-json.ts';

const MAX_CHARS = 20_000;
const MAX_FAULTS = 5;
/** Replaces the schema's own message, which would quote names written by the model. */
const UNKNOWN_NAMES = 'There are arguments that this tool does not have.';

/**
 * Validates the arguments of a call as untrusted JSON against the tool's schema (SECURITY.md strict-streams). Engines send
 * missing arguments as an empty text or null, and some send the object as a JSON string within JSON.
 * @returns the parsed arguments, or an error message for the model
 */
export function readArguments<Schema extends z.ZodType>(
  argumentsJson: string,
  schema: Schema,
): { given: z.output<Schema> } | { fault: string } {
  if (argumentsJson.length > MAX_CHARS) return { fault: `The arguments have more than ${MAX_CHARS} characters.` };
  const json = argumentsJson.trim();
  let value = json === '' ? {} : parseJson(json);
  if (typeof value === 'string') value = parseJson(value);
  if (value === undefined) return { fault: 'The arguments are not valid JSON, or were cut off. Send them whole.' };
  const parsed = schema.safeParse(value ?? {});
  if (parsed.success) return { given: parsed.data };
  const faults = parsed.error.issues.slice(0, MAX_FAULTS).map((issue) => {
    const place = issue.path.map(String).join('.');
    const message = issue.code === 'unrecognized_keys' ? UNKNOWN_NAMES : issue.message;
    return place === '' ? message : `${place}: ${message}`;
  });
  return { fault: `The arguments do not fit. ${faults.join('; ')}` };
}
