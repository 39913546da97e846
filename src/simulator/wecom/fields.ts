export type Fields = Readonly<Record<string, unknown>>;

/** The value's fields; none for a value that is not an object. */
export function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
