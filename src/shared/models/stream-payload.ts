import { asObject, parseJson, type JsonObject } from '../parse-json.ts';

/** Content of one line of an engine's stream: an object, the end, nothing, or a damaged object. */
export type Payload = JsonObject | 'done' | 'nothing' | 'torn';

const DONE = /^"?\[DONE\]"?$/i;

/**
 * Parses the data of an event. Only objects have content: anything else that engines and the proxies in front of them send
 * (`ping`, `null`, a number, nothing) only keeps the connection alive. An object that cannot be parsed may have been a part
 * of the answer.
 */
export function readPayload(data: string): Payload {
  const text = data.trim();
  if (text.startsWith('{')) return asObject(parseJson(text)) ?? 'torn';
  return DONE.test(text) ? 'done' : 'nothing';
}

/** Codes that mean success. */
const FINE: ReadonlySet<unknown> = new Set([undefined, null, '', 0, 200, '0', '200', 'ok', 'success', true, false]);
const CODE_FIELDS = [
  'code',
  'error_code',
  'errcode',
  'errorCode',
  'err_code',
  'status',
  'status_code',
  'Code',
  'ErrorCode',
];
const WORD_FIELDS = [
  'message',
  'msg',
  'error_msg',
  'errmsg',
  'error_message',
  'errorMessage',
  'detail',
  'Message',
  'ErrorMsg',
];

/**
 * The error in an object of status 200, in the forms that engines use: in `error`, as a code beside a message, or in a
 * separate field. Undefined if the object is a part of an answer, or has no content.
 */
export function errorIn(body: JsonObject): unknown {
  for (const field of ['error', 'errors', 'Error']) {
    const error = body[field];
    const isEmpty =
      FINE.has(error) ||
      (Array.isArray(error) && error.length === 0) ||
      (Array.isArray(body['choices']) && isBlank(error));
    // A code beside a plain text is more informative than the text alone.
    if (!isEmpty) return typeof error === 'string' ? body : error;
  }
  const base = asObject(body['base_resp']);
  if (base && !isFine(base['status_code'])) return base;
  const response = asObject(body['Response']);
  const inResponse = asObject(response?.['Error']);
  if (inResponse) return inResponse;
  const choices = body['choices'];
  if (Array.isArray(choices) && choices.length > 0) {
    const inChoice = asObject(asObject(choices[0])?.['error']);
    return inChoice && !isBlank(inChoice) ? inChoice : undefined;
  }
  if (body['object'] === 'error' || body['type'] === 'error') return body;
  const hasWords = WORD_FIELDS.some((field) =>
    typeof body[field] === 'string' ? body[field] !== '' : Array.isArray(body[field]),
  );
  const isBad = CODE_FIELDS.some((field) => !isFine(body[field]) && isCode(body[field]));
  return hasWords && (isBad || body['success'] === false || body['detail'] !== undefined) ? body : undefined;
}

function isFine(code: unknown): boolean {
  return FINE.has(typeof code === 'string' ? code.toLowerCase() : code);
}

/** A status word (`processing`) is not a code. */
function isCode(code: unknown): boolean {
  return typeof code === 'number' || (typeof code === 'string' && (/^\d+$/.test(code) || !/^[a-z ]{1,20}$/.test(code)));
}

/** Some engines send an object without values in place of no error. */
function isBlank(value: unknown): boolean {
  const object = asObject(value);
  return object !== undefined && Object.values(object).every((one) => isFine(one));
}
