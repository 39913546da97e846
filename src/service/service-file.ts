import type { z } from 'zod';
import { CodedError } from '../base/coded-error.ts';
import { readJsonFile } from '../base/json-file.ts';

/** A clients or directory file that cannot be used; `faults` says each thing to mend, without showing secrets. */
export class ServiceFileError extends CodedError<'service_file_not_json' | 'service_file_invalid'> {
  readonly faults: readonly string[];

  constructor(code: 'service_file_not_json' | 'service_file_invalid', faults: string[]) {
    super(code, faults.join('; '));
    this.faults = faults;
  }
}

/** Parses JSON text by a schema. @throws ServiceFileError with every fault, each with its place such as `[0].redirect_uris` */
export function readServiceFile<Output>(text: string, schema: z.ZodType<Output>): Output {
  const read = readJsonFile(text, schema);
  if (read.ok) return read.data;
  throw new ServiceFileError(read.isJson ? 'service_file_invalid' : 'service_file_not_json', read.faults);
}

/** Reports each value that occurs twice. */
export function checkUnique(
  values: readonly (string | undefined)[],
  what: string,
  complain: (message: string) => void,
): void {
  const seen = new Set<string>();
  for (const value of values) {
    if (value === undefined) continue;
    if (seen.has(value)) complain(`${what} ${value} occurs twice`);
    seen.add(value);
  }
}
