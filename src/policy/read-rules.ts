import type { z } from 'zod';
import { CodedError } from '../base/coded-error.ts';
import { readJsonFile } from '../base/json-file.ts';

/** A policy file that cannot be used; `faults` says each thing to mend, with its place such as `rules[0].who`. */
export class PolicyFileError extends CodedError<'policy_not_json' | 'policy_invalid'> {
  readonly faults: readonly string[];

  constructor(code: 'policy_not_json' | 'policy_invalid', faults: string[]) {
    super(code, faults.join('; '));
    this.faults = faults;
  }
}

/** Reads the text of a file with rules. @throws PolicyFileError with every fault */
export function readRules<Rules>(text: string, schema: z.ZodType<Rules>): Rules {
  const read = readJsonFile(text, schema);
  if (read.ok) return read.data;
  throw new PolicyFileError(read.isJson ? 'policy_invalid' : 'policy_not_json', read.faults);
}
