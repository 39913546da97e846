import type { z } from 'zod';
import { CodedError } from '../base/coded-error.ts';

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
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ServiceFileError('service_file_not_json', ['The file is not valid JSON']);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ServiceFileError(
    'service_file_invalid',
    parsed.error.issues.map(({ path, message }) => `${place(path)}: ${message}`),
  );
}

function place(path: PropertyKey[]): string {
  return (
    path
      .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
      .join('')
      .replace(/^\./, '') || 'the file'
  );
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
