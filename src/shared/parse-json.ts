/** Parses JSON; undefined if it is invalid. Drops the parser's error, because it quotes the text. */
export function parseJson(json: string | Buffer): unknown {
  try {
    return JSON.parse(json.toString()) as unknown;
  } catch {
    return undefined;
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object, and no list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is an object; undefined for lists and everything else. */
export function asObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

/** The fields of an object; none for any other value. */
export function fieldsOf(value: unknown): JsonObject {
  return asObject(value) ?? {};
}
