import type { z } from 'zod';

/** What people call the kinds of values in a JSON file. */
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

/**
 * What a schema's complaint is in our words; where the schema says it itself, its words count. Never shows a value: it may
 * be secret.
 */
export function inOurWords(issue: Issue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return complaint(kindInWords(issue.expected), issue.input);
    case 'invalid_value':
      return complaint(issue.values.map((value) => JSON.stringify(value)).join(' or '), issue.input);
    case 'unrecognized_keys':
      return `There is nothing called ${issue.keys.map((key) => JSON.stringify(key)).join(' or ')} here: correct the name, or remove it`;
    case 'too_small':
      return smallInWords(issue.origin, Number(issue.minimum));
    case 'too_big':
      return `Must have at most ${String(issue.maximum)}${issue.origin === 'string' ? ' characters' : ''}`;
    case 'invalid_union':
      return 'Has none of the forms that are possible here; see the pages in docs/ for examples';
    case 'custom':
    case 'invalid_element':
    case 'invalid_format':
    case 'invalid_key':
    case 'not_multiple_of':
      return 'Has not the form that is needed here; see the pages in docs/ for an example';
  }
}

function smallInWords(origin: string, minimum: number): string {
  if (origin === 'string')
    return minimum === 1 ? 'Is empty: write something' : `Must have at least ${minimum} characters`;
  if (origin === 'array') return `Is empty: name at least ${minimum}`;
  return `Must be at least ${minimum}`;
}

function kindInWords(expected: string): string {
  return KINDS[expected] ?? expected;
}

function complaint(wanted: string, input: unknown): string {
  if (input === undefined) return `Is missing: must be ${wanted}`;
  return `Must be ${wanted}, and is ${kindInWords(kindOf(input))}`;
}

function kindOf(input: unknown): string {
  if (input === null) return 'null';
  return Array.isArray(input) ? 'array' : typeof input;
}

/** Where in the file something stands, such as `rules[0].who`. */
export function placeInFile(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`));
  return steps.join('').replace(/^\./, '') || 'the file';
}
