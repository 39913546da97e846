/**
 * The fields that are there, for takers to whom one that is `undefined` counts as given: queries, forms, headers, and whatever walks over
 * the keys. Everywhere else a field that may be absent is set plainly.
 */
export function definedOnly<Value>(fields: Readonly<Record<string, Value | undefined>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).filter((field): field is [string, Value] => field[1] !== undefined));
}
