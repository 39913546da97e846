import { asObject, parseJson, type JsonObject } from '../parse-json.ts';
/** Members in which some providers wrap what the protocol puts at the top level. */
const WRAPPERS = ['data', 'result'] as const;

/** Parses a body as a JSON object, regardless of its content type; undefined for HTML, lists and everything else. */
export function readJsonObject(body: string): JsonObject | undefined {
  return asObject(parseJson(body.replace(/^\uFEFF/, '')));
}

/** Whether the value of an answer's `error` is an error. Some services send one with each answer: null, false or 0. */
export function isError(error: unknown): boolean {
  return !NO_ERRORS.has(error);
}

const NO_ERRORS: ReadonlySet<unknown> = new Set([undefined, null, '', false, 0, '0']);

/** The object that has the member: the response itself or an object wrapped in it. The response itself if none has it. */
export function unwrapped(answer: JsonObject, member: string): JsonObject {
  if (answer[member] !== undefined && answer[member] !== null) return answer;
  return WRAPPERS.map((name) => asObject(answer[name])).find((inner) => inner?.[member] !== undefined) ?? answer;
}
