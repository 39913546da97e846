import type { z } from 'zod';

/** Readable names of JSON value types. */
const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

type Issue = Parameters<z.core.$ZodErrorMap>[0];

/** Message for a schema issue; a custom message of the schema takes precedence. Never shows a value, which may be secret. */
export function formatZodIssue(issue: Issue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return complaint(kindInWords(issue.expected), issue.input);
    case 'invalid_value':
      return complaint(issue.values.map((value) => JSON.stringify(value)).join(' or '), issue.input);
    case 'unrecognized_keys':
      return `Unknown name: ${issue.keys.map((key) => JSON.stringify(key)).join(' or ')}; correct or remove it`;
    case 'too_small':
      return smallInWords(issue.origin, Number(issue.minimum));
    case 'too_big':
      return `Must have at most ${String(issue.maximum)}${issue.origin === 'string' ? ' characters' : ''}`;
    case 'invalid_union':
      return 'Has an unknown format; see docs/ for examples';
    case 'custom':
    case 'invalid_element':
    case 'invalid_format':
    case 'invalid_key':
    case 'not_multiple_of':
      return 'Has the wrong format; see docs/ for an example';
  }
}

function smallInWords(origin: string, minimum: number): string {
  if (origin === 'string') return minimum === 1 ? 'Must not be empty' : `Must have at least ${minimum} characters`;
  if (origin === 'array') return `Must not be empty: name at least ${minimum}`;
  return `Must be at least ${minimum}`;
}

function kindInWords(expected: string): string {
  return KINDS[expected] ?? expected;
}

function complaint(wanted: string, input: unknown): string {
  if (input === undefined) return `Is missing: must be ${wanted}`;
  return `Must be ${wanted}, but is ${kindInWords(kindOf(input))}`;
}

function kindOf(input: unknown): string {
  if (input === null) return 'null';
  return Array.isArray(input) ? 'array' : typeof input;
}

/** Path of a value in the file, such as `rules[0].who`. */
export function formatIssuePath(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`));
  return steps.join('').replace(/^\./, '') || 'the file';
}
