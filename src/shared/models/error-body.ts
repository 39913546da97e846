import { MINUTE_MS, SECOND_MS } from '../clock.ts';
import { parseJson } from '../parse-json.ts';

/** Content of an engine's error body, in any format. */
export interface ErrorBody {
  /** Codes and types as `key=value`, both in lower case. Numbers and strings are equal. */
  codes: string[];
  /** All messages, one per line. */
  words: string;
  /** Requested wait before a retry. */
  retryAfterMs?: number;
}

const MAX_CHARS = 64 * 1_024;
const MAX_WORDS_CHARS = 8_192;
const MAX_CODE_CHARS = 100;
const MAX_DEPTH = 8;
const MAX_VALUES = 500;

const CODE_KEYS = new Set(['code', 'type', 'status', 'status_code', 'error_code', 'error_type', 'errorcode', 'reason']);
/** Keys whose strings are messages. Other strings may repeat the request, so they are not read. */
const WORD_KEYS = new Set([
  ...['error', 'errors', 'message', 'msg', 'detail', 'details', 'reason', 'title', 'description', 'raw'],
  ...['status_msg', 'error_msg', 'error_message', 'error_description', 'error_type', 'errormessage', 'cause'],
]);
/** Keys whose objects repeat the request. */
const SKIPPED_KEYS = new Set(['input', 'ctx', 'request', 'messages', 'failed_generation', 'choices', 'loc']);
const WAIT_KEYS = new Set(['retrydelay', 'retry_after', 'retryafter', 'retry_after_seconds', 'estimated_time']);

/** `Please try again in 6m0s`, `retry after 2 minutes`, `please wait 20 seconds`. */
const WAIT_WORDS =
  /(?:try again|retry|please wait)(?: after| in| for)? (?=\d{1,6}(?:\.\d{1,9})? ?[ms])(?:(\d{1,5}) ?m(?:in\w*)?(?![a-z]) ?)?(?:(\d{1,6}(?:\.\d{1,9})?) ?(ms|milli|s(?![a-z])|sec))?/i;

/** Reads an error body: JSON text, a parsed value, or plain text. Linear in the size of the body. */
export function readErrorBody(body: unknown): ErrorBody {
  const reader = new BodyReader();
  if (typeof body === 'string') reader.readText(body.slice(0, MAX_CHARS), 0);
  else reader.read(body, 'error', 0);
  const words = reader.words.join('\n').slice(0, MAX_WORDS_CHARS);
  return { codes: reader.codes, words, retryAfterMs: reader.retryAfterMs ?? waitInWords(words) };
}

class BodyReader {
  readonly codes: string[] = [];
  readonly words: string[] = [];
  retryAfterMs: number | undefined;
  #values = 0;

  readText(text: string, depth: number): void {
    const value = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
    if (value === undefined) this.words.push(text.slice(0, MAX_WORDS_CHARS));
    else this.read(value, 'error', depth);
  }

  read(value: unknown, key: string, depth: number): void {
    this.#values += 1;
    if (depth > MAX_DEPTH || this.#values > MAX_VALUES) return;
    if (Array.isArray(value)) for (const one of value as unknown[]) this.read(one, key, depth + 1);
    else if (typeof value === 'object' && value !== null) this.#readFields(value, depth);
    else if (typeof value === 'string' || typeof value === 'number') this.#readValue(value, key, depth);
  }

  #readFields(fields: object, depth: number): void {
    for (const [name, value] of Object.entries(fields)) {
      const key = name.toLowerCase();
      if (!SKIPPED_KEYS.has(key)) this.read(value, key, depth + 1);
    }
  }

  #readValue(value: string | number, key: string, depth: number): void {
    if (WAIT_KEYS.has(key)) this.retryAfterMs ??= waitOf(value);
    const isCode = CODE_KEYS.has(key) && String(value).length <= MAX_CODE_CHARS;
    if (isCode) this.codes.push(`${key}=${String(value).trim().toLowerCase()}`);
    // A message may hold another error as JSON text.
    if (typeof value === 'string' && WORD_KEYS.has(key)) this.readText(value, depth + 1);
  }
}

/** A number of seconds, or a string such as `34.5s`. */
function waitOf(value: string | number): number | undefined {
  const seconds = Number(String(value).replace(/s$/i, ''));
  return Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds * SECOND_MS) : undefined;
}

function waitInWords(words: string): number | undefined {
  const [, minutes, amount, unit] = WAIT_WORDS.exec(words) ?? [];
  if (minutes === undefined && amount === undefined) return undefined;
  const unitMs = unit?.toLowerCase().startsWith('m') === true ? 1 : SECOND_MS;
  return Math.ceil(Number(minutes ?? 0) * MINUTE_MS + Number(amount ?? 0) * unitMs);
}
