import type { z } from 'zod';
import { CodedError } from './coded-error.ts';
import { formatJsonFault, readJson } from './http/read-json.ts';
import { formatZodIssue, formatIssuePath } from './text/format-zod-error.ts';

/**
 * An invalid configuration file. `faults` lists every problem with its path, such as `rules[0].who`, and contains no
 * secrets.
 */
export class ConfigFileError extends CodedError<'file_not_json' | 'file_invalid'> {
  readonly faults: readonly string[];

  constructor(code: 'file_not_json' | 'file_invalid', faults: string[]) {
    super(code, faults.join('; '));
    this.faults = faults;
  }
}

/** Parses the text of a JSON file that an administrator writes. @throws ConfigFileError with every fault */
export function readJsonFile<Output>(text: string, schema: z.ZodType<Output>): Output {
  const json = readJson(text);
  if (!json.ok) throw new ConfigFileError('file_not_json', [formatJsonFault(json.fault)]);
  const parsed = schema.safeParse(json.value, { error: formatZodIssue });
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${formatIssuePath(path)}: ${message}`);
  throw new ConfigFileError('file_invalid', faults);
}
