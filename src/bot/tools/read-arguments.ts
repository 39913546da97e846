import type { z } from 'zod';

const MOST_CHARS = 20_000;
const MOST_FAULTS = 5;
/** The schema's own message would quote names that the model wrote. */
const UNKNOWN_NAMES = 'There are arguments that this tool does not have.';

/**
 * Reads the arguments of a call as untrusted JSON against the tool's schema (SECURITY.md strict-streams). Engines write no arguments
 * as an empty text or null, and some write the object as JSON within JSON.
 * @returns what was given, or a sentence that tells the model what to mend
 */
export function readArguments<Schema extends z.ZodType>(
  argumentsJson: string,
  schema: Schema,
): { given: z.output<Schema> } | { fault: string } {
  if (argumentsJson.length > MOST_CHARS) return { fault: `The arguments have more than ${MOST_CHARS} characters.` };
  const json = argumentsJson.trim();
  let value = json === '' ? {} : parse(json);
  if (typeof value === 'string') value = parse(value);
  if (value === undefined) return { fault: 'The arguments are not valid JSON, or were cut off. Send them whole.' };
  const parsed = schema.safeParse(value ?? {});
  if (parsed.success) return { given: parsed.data };
  const faults = parsed.error.issues.slice(0, MOST_FAULTS).map((issue) => {
    const place = issue.path.map(String).join('.');
    const message = issue.code === 'unrecognized_keys' ? UNKNOWN_NAMES : issue.message;
    return place === '' ? message : `${place}: ${message}`;
  });
  return { fault: `The arguments do not fit. ${faults.join('; ')}` };
}

/** The parser's own error is dropped since it quotes the text. */
function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
