import type { Dispatcher } from 'undici';
import { monotonicMs } from '../clock.ts';
import { CodedError } from '../coded-error.ts';

/** Header names in lower case. */
export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface HttpRequest {
  url: URL;
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>> | undefined;
  body: string | null;
  /**
   * The request leaves within so long, or not at all: the end is then an `UnsentError`. A connection may take long to stand, and
   * a process may be frozen meanwhile, after which what was decided before holds no more. Milliseconds; no limit unless told.
   */
  leavesWithinMs?: number;
  /** The longest waits for the headers and between two pieces of the body. Defaults to the dispatcher's. */
  silence?: { headersMs: number; bodyMs: number };
}

/** Nothing was sent, and nothing will be. */
export class UnsentError extends CodedError<'unsent'> {
  constructor() {
    super('unsent', 'The request did not leave in time');
  }
}

export interface ExchangeListener {
  /** The answer's head. */
  onHead(status: number, headers: HttpHeaders): void;
  /** All bytes of the answer that came at once, at least one. Must not throw. */
  onBytes(bytes: Buffer): void;
  /** Comes once and last; `cause` tells what broke or ended the exchange. Must not throw. */
  onEnd(cause?: Error): void;
}

/**
 * One HTTP request and its answer, handed on in the step in which it comes: without a stream or a promise of its own, which
 * would cost as much as all that we do with an answer. What one read of the connection brought is one piece: a reader that is
 * behind catches up at the price of one. What arrived before a break is handed on before it, and with it a finish reason that
 * came just before the connection went.
 */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly #listener: ExchangeListener;
  #controller: Dispatcher.DispatchController | undefined;
  #pieces: Buffer[] = [];
  #abortedBy: Error | undefined;
  #isOver = false;
  #hasLeft = false;
  /** On the monotonic clock. */
  #leavesBeforeMs = Number.POSITIVE_INFINITY;

  constructor(listener: ExchangeListener) {
    this.#listener = listener;
  }

  /** Whether anything of the request may have left; what is aborted before never will. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Sends the request. Only once. Redirects are not followed. */
  send(dispatcher: Dispatcher, { url, method, headers, body, leavesWithinMs, silence }: HttpRequest): void {
    if (this.#isOver) return;
    if (leavesWithinMs !== undefined) this.#leavesBeforeMs = monotonicMs() + leavesWithinMs;
    const { origin, pathname, search } = url;
    const limits = silence && { headersTimeout: silence.headersMs, bodyTimeout: silence.bodyMs };
    dispatcher.dispatch({ origin, path: pathname + search, method, headers: headers ?? null, body, ...limits }, this);
  }

  /** Frees the connection at once and tells the listener. Does nothing after the end. */
  abort(reason: Error): void {
    if (this.#isOver) return;
    this.#abortedBy = reason;
    this.#controller?.abort(reason);
    this.#end(reason);
  }

  /** Lets the other side wait; what has come already is still handed on. */
  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // This comes right before the request's bytes are written. Thrown here, an error ends the request alone: to abort would end
    // the connection too, and where each takes long to stand, none would ever serve.
    if (this.#abortedBy) throw this.#abortedBy;
    if (monotonicMs() >= this.#leavesBeforeMs) throw new UnsentError();
    this.#hasLeft = true;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: HttpHeaders): void {
    if (!this.#isOver) this.#listener.onHead(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#isOver || piece.length === 0) return;
    if (this.#pieces.push(piece) === 1) process.nextTick(handOnPieces, this);
  }

  onResponseEnd(): void {
    this.#end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(error);
  }

  handOn(): void {
    const [first] = this.#pieces;
    if (first === undefined) return;
    const bytes = this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#listener.onBytes(bytes);
  }

  #end(cause?: Error): void {
    if (!this.#isOver) this.handOn();
    // What was handed on may have made the listener end the exchange.
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onEnd(cause);
  }
}

/** One function for all, so that no piece needs one of its own. */
function handOnPieces(exchange: HttpExchange): void {
  exchange.handOn();
}
