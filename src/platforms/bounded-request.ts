import type { IncomingHttpHeaders } from 'node:http';
import { got } from 'got';
import { KIB_BYTES, SECOND_MS } from '../base/clock.ts';
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

/**
 * One HTTP call without retries or redirects, of bounded time and size.
 * @throws PlatformError `unreachable`, or `media_too_large` when the answer goes beyond `maxBytes`
 */
export async function requestBounded(url: URL, request: BoundedRequest): Promise<BoundedAnswer> {
  const { method, json, headers, maxBytes = 64 * KIB_BYTES, timeoutMs = 5 * SECOND_MS, signal } = request;
  const place = `${method} ${url.host}${url.pathname}`;
  const stream = got.stream(url, {
    method,
    ...(json ? { json } : {}),
    ...(headers ? { headers } : {}),
    ...(signal ? { signal } : {}),
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    timeout: { request: timeoutMs, connect: CONNECT_TIMEOUT_MS },
  });
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  let status = 0;
  let answered: IncomingHttpHeaders = {};
  stream.on('response', (response: { statusCode: number; headers: IncomingHttpHeaders }) => {
    status = response.statusCode;
    answered = response.headers;
  });
  stream.on('error', () => undefined);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes)
        throw new PlatformError('media_too_large', `${place} answered more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    if (signal?.aborted) throw signal.reason;
    // The HTTP client's error holds the request, the address and its query; only its code goes on (security.md 2.5).
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new PlatformError('unreachable', `${place} failed (${code})`);
  } finally {
    // The client heeds the signal beyond the answer's end: an abort then would be an error that nobody listens to.
    stream.destroy();
  }
  const { 'content-type': contentType, 'retry-after': retryAfter } = answered;
  return { status, body: Buffer.concat(chunks, sizeBytes), contentType, retryAfter };
}
