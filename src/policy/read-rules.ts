import type { z } from 'zod';
import { CodedError } from '../base/coded-error.ts';

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
  const parsed = schema.safeParse(readJson(text));
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${placeOf(path)}: ${message}`);
  throw new PolicyFileError('policy_invalid', faults);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PolicyFileError('policy_not_json', ['The file is not valid JSON']);
  }
}

function placeOf(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`));
  return steps.join('').replace(/^\./, '') || 'the file';
}
