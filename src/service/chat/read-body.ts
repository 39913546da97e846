import type { IncomingMessage } from 'node:http';
import { MIB_BYTES } from '../../base/clock.ts';
import { textOfUtf8 } from '../../base/utf8.ts';
import { ChatApiError } from './chat-api-error.ts';

const MAX_BODY_MIB = 32;
const MAX_BODY_BYTES = MAX_BODY_MIB * MIB_BYTES;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)/i;

/**
 * Reads the bytes of a body that is to be JSON. Compressed bodies are refused, for a small one could unpack to a large one.
 * @throws ChatApiError 400 `invalid_json` or 413 `request_too_large`
 */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (!JSON_TYPE.test(type)) throw unreadable('The body must be JSON (Content-Type: application/json)');
  if (!/^(?:utf-?8|us-ascii)$/i.test(CHARSET.exec(type)?.[1] ?? 'utf-8')) throw unreadable('The body must be UTF-8');
  return readPlainBody(request, encoding);
}

/** Reads the bytes of a body of any type. @throws ChatApiError 400 `invalid_json` for a compressed one, or 413 `request_too_large` */
export async function readAnyBody(request: IncomingMessage): Promise<Buffer> {
  return readPlainBody(request, request.headers['content-encoding'] ?? 'identity');
}

async function readPlainBody(request: IncomingMessage, encoding: string): Promise<Buffer> {
  if (encoding.toLowerCase() !== 'identity') throw unreadable('The body must not be compressed');
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  return collect(request);
}

/**
 * Reads bytes as JSON, which RFC 8259 section 8.1 wants in UTF-8: bytes that are not are refused instead of being replaced. Of two
 * equal keys the later counts.
 * @throws ChatApiError 400 `invalid_json`
 */
export function parseBody(bytes: Buffer): unknown {
  return parse(decode(bytes));
}

/** What comes beyond the limit is read and dropped by the server: a connection cut in the middle would hide the answer. */
function collect(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let sizeBytes = 0;
    request.on('data', (part: Buffer) => {
      sizeBytes += part.length;
      if (sizeBytes <= MAX_BODY_BYTES) {
        parts.push(part);
        return;
      }
      parts.length = 0;
      reject(tooLarge());
    });
    // Taken out, for the request with its listeners lives as long as a streamed answer.
    request.once('end', () => resolve(Buffer.concat(parts.splice(0))));
    const brokeOff = () => reject(unreadable('The body broke off'));
    // Who left while the limits were asked is heard of no more: the place of the key would stay taken.
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

/** What the parser says is not passed on: it quotes the body. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable('The body is not valid JSON');
  }
}

function unreadable(message: string): ChatApiError {
  return new ChatApiError('invalid_json', message);
}

function tooLarge(): ChatApiError {
  return new ChatApiError('request_too_large', `The body is larger than ${MAX_BODY_MIB} MiB`);
}
