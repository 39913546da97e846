import type { IncomingMessage } from 'node:http';
import { MIB_BYTES, SECOND_MS } from '../../shared/clock.ts';
import { asError } from '../../shared/coded-error.ts';
import { JsonMeter } from '../../shared/json-meter.ts';
import { textOfUtf8 } from '../../shared/text/utf8.ts';
import { ChatApiError } from './chat-api-error.ts';
import { parseJson } from '../../shared/parse-json.ts';

const MAX_BODY_MIB = 32;
const MAX_BODY_BYTES = MAX_BODY_MIB * MIB_BYTES;
/** Maximum number of JSON values: ten thousand messages with their parts, and 256 tools beside them, need about half. */
const MAX_VALUES = 250_000;
/**
 * Maximum total size of the bodies that wait for answers. Parsed and serialized again, a body takes up to five times its
 * size.
 */
const MAX_HELD_BYTES = 256 * MIB_BYTES;
/** Maximum time for which the rest of a rejected body is read and dropped before the error is sent. */
const DRAIN_LIMIT_MS = 5 * SECOND_MS;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)/i;

/** A JSON body that is not parsed yet. */
export interface JsonBody {
  bytes: Buffer;
  /** Upper bound of the number of its JSON values. */
  values: number;
}

/** Counts the bytes of all bodies that wait for answers. */
export class BodyBudget {
  #heldBytes = 0;

  hold(): BodyHold {
    let ownBytes = 0;
    return {
      grow: (bytes) => {
        if (this.#heldBytes + bytes > MAX_HELD_BYTES)
          throw new ChatApiError('unavailable', 'Other large requests are in progress; try again later', {
            retryAfterSec: 1,
          });
        this.#heldBytes += bytes;
        ownBytes += bytes;
      },
      release: () => {
        this.#heldBytes -= ownBytes;
        ownBytes = 0;
      },
    };
  }
}

/** One request's share of a BodyBudget. */
export interface BodyHold {
  /** @throws ChatApiError 503 if the budget is exhausted */
  grow(bytes: number): void;
  /** Further calls do nothing. */
  release(): void;
}

/**
 * Reads the bytes of a JSON body and counts its values: a body with too many is rejected before it is parsed. Compressed
 * bodies are rejected, because a small one could decompress to a large one.
 * @throws ChatApiError 400 `invalid_json`, 413 `request_too_large` or 503 `unavailable`
 */
export async function readBody(request: IncomingMessage, hold: BodyHold): Promise<JsonBody> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (!JSON_TYPE.test(type)) throw unreadable('The body must be JSON (Content-Type: application/json)');
  if (!/^(?:utf-?8|us-ascii)$/i.test(CHARSET.exec(type)?.[1] ?? 'utf-8')) throw unreadable('The body must be UTF-8');
  const meter = new JsonMeter();
  const bytes = await readPlainBody(request, encoding, (part) => {
    hold.grow(part.length);
    meter.update(part);
    if (meter.values > MAX_VALUES) throw tooManyValues();
  });
  return { bytes, values: meter.values };
}

/** Reads the bytes of a body of any type. @throws ChatApiError 400 `invalid_json` for a compressed one, 413 `request_too_large` or 503 `unavailable` */
export async function readAnyBody(request: IncomingMessage, hold: BodyHold): Promise<Buffer> {
  return readPlainBody(request, request.headers['content-encoding'] ?? 'identity', (part) => hold.grow(part.length));
}

/** @param judge throws a ChatApiError for the chunk that makes the body unacceptable */
async function readPlainBody(
  request: IncomingMessage,
  encoding: string,
  judge: (part: Buffer) => void,
): Promise<Buffer> {
  if (encoding.toLowerCase() !== 'identity') throw unreadable('The body must not be compressed');
  const isTooLong = Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES;
  return collect(request, isTooLong ? refuseAll : judge);
}

function refuseAll(): never {
  throw tooLarge();
}

/**
 * Parses bytes as JSON. RFC 8259 section 8.1 requires UTF-8: invalid bytes are rejected instead of replaced. Of two equal
 * keys the later one wins.
 * @throws ChatApiError 400 `invalid_json`
 */
export function parseBody(bytes: Buffer): unknown {
  return parse(decode(bytes));
}

/**
 * Reads and drops the rest of a rejected body before the error is sent. A client that requested `Connection: close` would
 * otherwise find the connection closed while it is still writing, and never read the error.
 */
function collect(request: IncomingMessage, judge: (part: Buffer) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let sizeBytes = 0;
    let refusal: Error | undefined;
    let drainTimer: NodeJS.Timeout | undefined;
    const end = (settle: () => void) => {
      clearTimeout(drainTimer);
      settle();
    };
    const refuse = (error: Error) => {
      refusal = error;
      parts.length = 0;
      drainTimer = setTimeout(() => reject(error), DRAIN_LIMIT_MS);
    };
    request.on('data', (part: Buffer) => {
      if (refusal) return;
      try {
        sizeBytes += part.length;
        if (sizeBytes > MAX_BODY_BYTES) throw tooLarge();
        judge(part);
        parts.push(part);
      } catch (error) {
        refuse(asError(error));
      }
    });
    // `splice` empties the list, because the request with its listeners lives as long as a streamed answer.
    request.once('end', () => end(() => (refusal ? reject(refusal) : resolve(Buffer.concat(parts.splice(0))))));
    const brokeOff = () => end(() => reject(refusal ?? unreadable('The body is incomplete')));
    // A client that disconnected while the limits were checked triggers no event any more, so the key's slot would never be
    // released.
    if (request.destroyed) return brokeOff();
    request.once('error', brokeOff);
    request.once('close', brokeOff);
  });
}

function decode(bytes: Buffer): string {
  const text = textOfUtf8(bytes);
  if (text === undefined) throw unreadable('The body must be UTF-8');
  return text;
}

function parse(text: string): unknown {
  const body = parseJson(text);
  if (body === undefined) throw unreadable('The body is not valid JSON');
  return body;
}

function unreadable(message: string): ChatApiError {
  return new ChatApiError('invalid_json', message);
}

function tooLarge(): ChatApiError {
  return new ChatApiError('request_too_large', `The body is larger than ${MAX_BODY_MIB} MiB`);
}

/** 413 for a body that takes too much memory or time to parse. */
export function tooManyValues(cause?: unknown): ChatApiError {
  const message = `The body contains more than ${MAX_VALUES.toLocaleString('en')} JSON values, or takes too long to read`;
  return new ChatApiError('request_too_large', message, { cause });
}
