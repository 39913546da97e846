/**
 * Removes undefined fields, for consumers that treat an undefined field as present: queries, forms, headers, and code that
 * iterates over keys. Elsewhere, optional fields may be set to undefined.
 */
export function definedOnly<Value>(fields: Readonly<Record<string, Value | undefined>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).filter((field): field is [string, Value] => field[1] !== undefined));
}
