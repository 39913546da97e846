import { asObject, parseJson, type JsonObject } from '../parse-json.ts';
/** Members in which some providers wrap what the protocol puts at the top level. */
const WRAPPERS = ['data', 'result'] as const;

/** Parses a body as a JSON object, regardless of its content type; undefined for HTML, lists and everything else. */
export function readJsonObject(body: string): JsonObject | undefined {
  return asObject(parseJson(body.replace(/^\uFEFF/, '')));
}

/** The object that has the member: the response itself or an object wrapped in it. The response itself if none has it. */
export function unwrapped(answer: JsonObject, member: string): JsonObject {
  if (answer[member] !== undefined && answer[member] !== null) return answer;
  return WRAPPERS.map((name) => asObject(answer[name])).find((inner) => inner?.[member] !== undefined) ?? answer;
}
