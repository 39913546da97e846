import { Agent } from 'undici';
import { KIB_BYTES, SECOND_MS } from '../clock.ts';
import { CodedError } from '../coded-error.ts';
import { outgoingConnector } from './http-agent.ts';
import { HttpExchange, UnsentError, type HttpHeaders } from './http-exchange.ts';

export interface HttpCall {
  /** Defaults to POST with a body, otherwise GET. */
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  json?: object;
  /** Sent URL-encoded. */
  form?: Readonly<Record<string, string>>;
  /** Sent unchanged; its type is set in the headers. */
  body?: string | Buffer;
  /** Maximum size of the answer. Defaults to 256 KiB. */
  maxBytes?: number;
  /** Time limit of the whole call. Milliseconds. Defaults to 5 s. */
  timeoutMs?: number;
  /** Time limit for name lookup and connection. Milliseconds. Defaults to the time limit of the whole call. */
  connectMs?: number;
  signal?: AbortSignal;
  /** Maximum time until the request is sent; after it, the request is never sent. Milliseconds. */
  leavesWithinMs?: number;
}

export interface HttpResponse {
  status: number;
  body: Buffer;
  contentType: string | undefined;
  retryAfter: string | undefined;
  /** As received; names in lower case. */
  headers: HttpHeaders;
}

/**
 * A call without a usable answer. Contains host and path, never a query, a header or a body
 * (SECURITY.md secrets-stay-inside). `unsent`: `leavesWithinMs` was set and nothing left this process.
 */
export class HttpCallError extends CodedError<'timeout' | 'unreachable' | 'unsent' | 'too_large'> {
  /** Code of the system or the client: ECONNREFUSED. */
  readonly detail: string;

  constructor(code: HttpCallError['code'], what: string, detail: string) {
    super(code, what);
    this.detail = detail;
  }
}

/**
 * Connect timeout, longer than that of a call: with slow DNS, a connection that is too late for its call serves the next
 * one. If the connection ended with the call, none would ever be established.
 */
const CONNECT_TIMEOUT_MS = 15 * SECOND_MS;

/** Some firewalls reject requests without it. */
const AGENT = { 'user-agent': 'Parley' };
const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

/** undici's timeouts are disabled because each call has its own limit. Each snapshot of an answer is one call. */
const dispatcher = new Agent({
  connect: outgoingConnector({ timeoutMs: CONNECT_TIMEOUT_MS }),
  headersTimeout: 0,
  bodyTimeout: 0,
});

/**
 * Makes one HTTP call of bounded time and size, through the configured proxy, without retries, redirects or decompression.
 * @throws HttpCallError; the signal's reason
 */
export async function callHttp(address: URL | string, call: HttpCall = {}): Promise<HttpResponse> {
  const url = typeof address === 'string' ? new URL(address) : address;
  const { timeoutMs = 5 * SECOND_MS, connectMs, maxBytes = 256 * KIB_BYTES, signal, leavesWithinMs } = call;
  const { type, body } = bodyOf(call);
  const { method = body === null ? 'GET' : 'POST' } = call;
  const place = `${method} ${url.host}${url.pathname}`;
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
        if (answer.sizeBytes <= maxBytes) return;
        // Aborting the exchange closes the connection.
        const what = `${place} answered more than ${maxBytes} bytes`;
        exchange.abort(new HttpCallError('too_large', what, `more than ${maxBytes / KIB_BYTES} KiB`));
      },
      onEnd(cause) {
        clearTimeout(timer);
        clearTimeout(connectTimer);
        signal?.removeEventListener('abort', cancel);
        if (cause === undefined) resolve(answerOf(answer));
        else reject(cause instanceof HttpCallError || cause === cancelled ? cause : failure(cause));
      },
    });
    // Without a connection (refused, no DNS name, no descriptor) the call cannot have been carried out.
    const isUnsent = () => leavesWithinMs !== undefined && !exchange.isSent;
    const failure = (cause: Error) => {
      if (cause instanceof UnsentError)
        return new HttpCallError('unsent', `${place} could not be sent in time`, 'unsent');
      // The client's error may contain the address and its query, so only its code is kept.
      const code = 'code' in cause ? String(cause.code) : 'unknown';
      return new HttpCallError(isUnsent() ? 'unsent' : 'unreachable', `${place} failed (${code})`, code);
    };
    let cancelled: Error | undefined;
    const cancel = () => exchange.abort((cancelled = signal?.reason as Error));
    const end = () => {
      const late = new HttpCallError('timeout', `${place} failed (ETIMEDOUT)`, 'ETIMEDOUT');
      exchange.abort(isUnsent() ? new UnsentError() : late);
    };
    const timer = setTimeout(end, timeoutMs);
    const connectTimer = connectMs === undefined ? undefined : setTimeout(() => exchange.isSent || end(), connectMs);
    signal?.addEventListener('abort', cancel, { once: true });
    const headers = { ...AGENT, ...call.headers, ...type };
    exchange.send(dispatcher, { leavesWithinMs, url, method, headers, body });
  });
}

function bodyOf({ json, form, body }: HttpCall): { type?: typeof JSON_TYPE; body: string | Buffer | null } {
  if (json) return { type: JSON_TYPE, body: JSON.stringify(json) };
  if (form) return { type: FORM_TYPE, body: new URLSearchParams(form).toString() };
  return { body: body ?? null };
}

function answerOf({ status, headers, chunks }: Pick<HttpResponse, 'status' | 'headers'> & { chunks: Buffer[] }) {
  const { 'content-type': contentType, 'retry-after': retryAfter } = headers;
  const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  return { status, body, contentType: first(contentType), retryAfter: first(retryAfter), headers };
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
