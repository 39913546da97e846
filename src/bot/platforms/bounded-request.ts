import { Agent } from 'undici';
import { KIB_BYTES, SECOND_MS } from '../../shared/clock.ts';
import { outgoingConnector } from '../../shared/http/http-agent.ts';
import { HttpExchange, UnsentError, type HttpHeaders } from '../../shared/http/http-exchange.ts';
import { PlatformError } from './platform-error.ts';

export interface BoundedRequest {
  method: 'GET' | 'POST';
  /** Sent as JSON. */
  json?: object;
  /** Sent unchanged instead of `json`; its type is set in the headers. */
  text?: string;
  headers?: Readonly<Record<string, string>>;
  /** Maximum answer size. Defaults to 64 KiB. */
  maxBytes?: number;
  /** Time limit of the whole call. Milliseconds. Defaults to 5 s. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Maximum time until the request leaves; after it, the request is never sent. Milliseconds. */
  leavesWithinMs?: number;
}

export interface BoundedAnswer {
  status: number;
  body: Buffer;
  contentType: string | undefined;
  retryAfter: string | undefined;
  /** As received, by lower-case name. */
  headers: HttpHeaders;
}

/**
 * Connect timeout, longer than a call's: with slow DNS, a connection that is late for its call serves the next one. If it
 * ended with the call, no connection would ever be established.
 */
const CONNECT_TIMEOUT_MS = 15 * SECOND_MS;

/** undici's timeouts are off because each call has a limit of its own. Every snapshot of an answer is such a call. */
const dispatcher = new Agent({
  connect: outgoingConnector({ timeoutMs: CONNECT_TIMEOUT_MS }),
  headersTimeout: 0,
  bodyTimeout: 0,
});

/**
 * One HTTP call without retries or redirects, of bounded time and size.
 * @throws PlatformError `unreachable`, `unsent` if `leavesWithinMs` is set and nothing left this process, or
 * `media_too_large` if the answer exceeds `maxBytes`; the signal's reason
 */
export async function requestBounded(url: URL, options: BoundedRequest): Promise<BoundedAnswer> {
  const {
    method,
    json,
    text,
    headers,
    timeoutMs = 5 * SECOND_MS,
    maxBytes = 64 * KIB_BYTES,
    signal,
    leavesWithinMs,
  } = options;
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const answer = { status: 0, headers: {} as HttpHeaders, chunks: [] as Buffer[], sizeBytes: 0 };
    const exchange = new HttpExchange({
      onHead(status, answered) {
        answer.status = status;
        answer.headers = answered;
      },
      onBytes(bytes) {
        answer.sizeBytes += bytes.length;
        answer.chunks.push(bytes);
        // Aborting the exchange closes the connection.
        if (answer.sizeBytes > maxBytes)
          exchange.abort(
            new PlatformError('media_too_large', `${placeOf(url, method)} answered more than ${maxBytes} bytes`),
          );
      },
      onEnd(cause) {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
        if (cause === undefined) resolve(answerOf(answer));
        else if (cause instanceof PlatformError || cause === cancelled) reject(cause);
        else reject(failure(placeOf(url, method), cause, isUnsent()));
      },
    });
    // Without a connection (refused, no DNS name, no descriptor) the call cannot have been carried out.
    const isUnsent = () => leavesWithinMs !== undefined && !exchange.hasLeft;
    let cancelled: Error | undefined;
    const cancel = () => exchange.abort((cancelled = signal?.reason as Error));
    const timer = setTimeout(() => {
      exchange.abort(
        isUnsent() ? new UnsentError() : new PlatformError('unreachable', `${placeOf(url, method)} failed (timeout)`),
      );
    }, timeoutMs);
    signal?.addEventListener('abort', cancel, { once: true });
    exchange.send(dispatcher, {
      leavesWithinMs,
      url,
      method,
      headers: json ? { ...headers, 'content-type': 'application/json' } : headers,
      body: json ? JSON.stringify(json) : (text ?? null),
    });
  });
}

function answerOf({
  status,
  headers,
  chunks,
}: {
  status: number;
  headers: HttpHeaders;
  chunks: Buffer[];
}): BoundedAnswer {
  const { 'content-type': contentType, 'retry-after': retryAfter } = headers;
  const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  return { status, body, contentType: first(contentType), retryAfter: first(retryAfter), headers };
}

/**
 * Keeps only the code of the HTTP client's error, which may contain the address and its query (SECURITY.md
 * secrets-stay-inside).
 */
function failure(place: string, cause: Error, isUnsent: boolean): PlatformError {
  if (cause instanceof UnsentError) return new PlatformError('unsent', `${place} was not sent in time`);
  const code = 'code' in cause ? String(cause.code) : 'unknown';
  return new PlatformError(isUnsent ? 'unsent' : 'unreachable', `${place} failed (${code})`);
}

function placeOf(url: URL, method: string): string {
  return `${method} ${url.host}${url.pathname}`;
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
