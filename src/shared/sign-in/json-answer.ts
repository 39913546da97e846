export type JsonObject = Readonly<Record<string, unknown>>;

/** Members in which some providers wrap what the protocol puts at the top. */
const WRAPPERS = ['data', 'result'] as const;

/** A body as a JSON object, whatever its content type says; undefined for HTML, lists, and everything else. */
export function readJsonObject(body: string): JsonObject | undefined {
  try {
    return asJsonObject(JSON.parse(body.replace(/^\uFEFF/, '')));
  } catch {
    return undefined;
  }
}

export function asJsonObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The object that has the member: the answer itself, or one that it wraps; the answer itself where none has it. */
export function unwrapped(answer: JsonObject, member: string): JsonObject {
  if (answer[member] !== undefined && answer[member] !== null) return answer;
  return WRAPPERS.map((name) => asJsonObject(answer[name])).find((inner) => inner?.[member] !== undefined) ?? answer;
}
