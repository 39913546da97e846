import type { Dispatcher } from 'undici';
import { monotonicMs } from '../clock.ts';
import { CodedError } from '../coded-error.ts';
import { bindSpan, isTracing } from '../tracing/tracing.ts';

/** Header names in lower case. */
export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;

interface Silence {
  firstByteMs: number;
  idleMs: number;
}

export interface HttpRequest {
  url: URL;
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>> | undefined;
  body: string | Buffer | null;
  /**
   * Maximum time in milliseconds until the request is sent; after that it fails with an `UnsentError`. Connecting may take
   * long, and the process may be suspended meanwhile, so that the decision to send is outdated. Defaults to no limit.
   */
  leavesWithinMs?: number;
  /**
   * Maximum waits for the first byte of the body and between two chunks of it. Default to the dispatcher's limits, which end
   * the first wait with the headers: engines send these at once, before they read a long prompt.
   */
  silence?: Silence;
}

/** The request was not sent, and will not be. */
export class UnsentError extends CodedError<'unsent'> {
  constructor() {
    super('unsent', 'The request could not be sent in time');
  }
}

export interface ExchangeListener {
  /** The response head. */
  onHead(status: number, headers: HttpHeaders): void;
  /** All response bytes from one read, at least one. Must not throw. */
  onBytes(bytes: Buffer): void;
  /** Called once, last; `cause` is the error that broke or ended the exchange. Must not throw. */
  onEnd(cause?: Error): void;
}

/**
 * One HTTP request and its response, delivered synchronously as it arrives. A stream or promise per exchange would cost as
 * much as all our processing of a response. Each read of the connection is one chunk, so a slow reader catches up at the
 * cost of one chunk. Data that arrived before a break is delivered first, including a finish reason that came right before
 * the disconnect.
 */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly #listener: ExchangeListener;
  #controller: Dispatcher.DispatchController | undefined;
  #pieces: Buffer[] = [];
  #abortedBy: Error | undefined;
  #isOver = false;
  #isSent = false;
  /** On the monotonic clock. */
  #leavesBeforeMs = Number.POSITIVE_INFINITY;
  #silence: Silence | undefined;
  #hasBody = false;
  #silenceTimer: NodeJS.Timeout | undefined;

  constructor(listener: ExchangeListener) {
    this.#listener = isTracing() ? inCurrentSpan(listener) : listener;
  }

  /** Whether any part of the request may have been sent. A request that is aborted before that is never sent. */
  get isSent(): boolean {
    return this.#isSent;
  }

  /** Sends the request. Call it only once. Redirects are not followed. */
  send(dispatcher: Dispatcher, { url, method, headers, body, leavesWithinMs, silence }: HttpRequest): void {
    if (this.#isOver) return;
    if (leavesWithinMs !== undefined) this.#leavesBeforeMs = monotonicMs() + leavesWithinMs;
    const { origin, pathname, search } = url;
    this.#silence = silence;
    const limits = silence && { headersTimeout: 0, bodyTimeout: 0 };
    dispatcher.dispatch({ origin, path: pathname + search, method, headers: headers ?? null, body, ...limits }, this);
  }

  /** Closes the connection immediately and notifies the listener. Does nothing after the end. */
  abort(reason: Error): void {
    if (this.#isOver) return;
    this.#abortedBy = reason;
    this.#controller?.abort(reason);
    this.#end(reason);
  }

  /** Applies backpressure; data that has already arrived is still delivered. */
  pause(): void {
    this.#controller?.pause();
    clearTimeout(this.#silenceTimer);
  }

  resume(): void {
    this.#controller?.resume();
    this.#awaitBytes();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Called right before the request is written. An error thrown here fails only this request. Aborting would also close
    // the connection, and if connecting always takes this long, no request would ever succeed.
    if (this.#abortedBy) throw this.#abortedBy;
    if (monotonicMs() >= this.#leavesBeforeMs) throw new UnsentError();
    this.#isSent = true;
    this.#awaitBytes();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: HttpHeaders): void {
    if (!this.#isOver) this.#listener.onHead(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#isOver || piece.length === 0) return;
    if (this.#pieces.push(piece) === 1) process.nextTick(handOnPieces, this);
    if (this.#hasBody) this.#silenceTimer?.refresh();
    else {
      this.#hasBody = true;
      this.#awaitBytes();
    }
  }

  onResponseEnd(): void {
    this.#end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(error);
  }

  flush(): void {
    const [first] = this.#pieces;
    if (first === undefined) return;
    const bytes = this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#listener.onBytes(bytes);
  }

  #awaitBytes(): void {
    if (this.#silence === undefined || this.#isOver) return;
    clearTimeout(this.#silenceTimer);
    const limitMs = this.#hasBody ? this.#silence.idleMs : this.#silence.firstByteMs;
    this.#silenceTimer = setTimeout(() => this.abort(new Error(`No byte arrived within ${limitMs} ms`)), limitMs);
  }

  #end(cause?: Error): void {
    clearTimeout(this.#silenceTimer);
    if (!this.#isOver) this.flush();
    // The listener may have ended the exchange while it handled this data.
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onEnd(cause);
  }
}

/** A connection is shared, and its events would run in the span of the request that opened it. */
function inCurrentSpan(listener: ExchangeListener): ExchangeListener {
  return {
    onHead: bindSpan((status, headers) => listener.onHead(status, headers)),
    onBytes: bindSpan((bytes) => listener.onBytes(bytes)),
    onEnd: bindSpan((cause) => listener.onEnd(cause)),
  };
}

/** Shared by all exchanges, so that no chunk allocates a function. */
function handOnPieces(exchange: HttpExchange): void {
  exchange.flush();
}
