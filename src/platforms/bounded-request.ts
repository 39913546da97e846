import type { Readable } from 'node:stream';
import { Agent, request as sendRequest } from 'undici';
import { KIB_BYTES, SECOND_MS } from '../base/clock.ts';
import { Ending } from '../base/ending.ts';
import { PlatformError } from './platform-error.ts';

export interface BoundedRequest {
  method: 'GET' | 'POST';
  /** Sent as JSON. */
  json?: object;
  headers?: Readonly<Record<string, string>>;
  /** The largest answer that is read; 64 KiB unless told. */
  maxBytes?: number;
  /** Limit of the whole call; 5 s unless told. Milliseconds. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface BoundedAnswer {
  status: number;
  body: Buffer;
  contentType: string | undefined;
  retryAfter: string | undefined;
}

const CONNECT_TIMEOUT_MS = 2 * SECOND_MS;

/** Each call has a limit of its own for the whole of it, so undici's are off. Every look of an answer is such a call. */
const dispatcher = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS }, headersTimeout: 0, bodyTimeout: 0 });

/**
 * One HTTP call without retries or redirects, of bounded time and size.
 * @throws PlatformError `unreachable`, or `media_too_large` when the answer goes beyond `maxBytes`
 */
export async function requestBounded(url: URL, options: BoundedRequest): Promise<BoundedAnswer> {
  const { method, json, headers, timeoutMs = 5 * SECOND_MS, signal } = options;
  signal?.throwIfAborted();
  const ending = new Ending();
  const end = () => ending.end(new Error('The call was ended'));
  const timer = setTimeout(end, timeoutMs);
  signal?.addEventListener('abort', end, { once: true });
  try {
    const answer = await sendRequest(url, {
      dispatcher,
      method,
      headers: json ? { ...headers, 'content-type': 'application/json' } : headers,
      body: json ? JSON.stringify(json) : null,
      signal: ending,
    });
    const body = await readBounded(answer.body, options, url);
    const { 'content-type': contentType, 'retry-after': retryAfter } = answer.headers;
    return { status: answer.statusCode, body, contentType: first(contentType), retryAfter: first(retryAfter) };
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    if (signal?.aborted === true) throw signal.reason;
    // The HTTP client's error may hold the address and its query; only its code goes on (security.md 2.5).
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new PlatformError('unreachable', `${placeOf(url, method)} failed (${ending.aborted ? 'timeout' : code})`);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** By events, since a stream's iterator costs as much again as the call's own reading. */
function readBounded(body: Readable, { method, maxBytes = 64 * KIB_BYTES }: BoundedRequest, url: URL): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    body.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      chunks.push(chunk);
      // To destroy the body cuts the connection.
      if (sizeBytes > maxBytes)
        body.destroy(
          new PlatformError('media_too_large', `${placeOf(url, method)} answered more than ${maxBytes} bytes`),
        );
    });
    body.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, sizeBytes)));
    body.once('error', reject);
    body.once('close', () => {
      // Each call is closed in the end, and an error that nobody needs costs as much as to read the answer.
      if (!body.readableEnded) reject(new PlatformError('unreachable', `${placeOf(url, method)} broke off`));
    });
  });
}

function placeOf(url: URL, method: string): string {
  return `${method} ${url.host}${url.pathname}`;
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
