import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { asError } from '../../shared/coded-error.ts';
import { Deferred } from '../../shared/deferred.ts';
import { asChatApiError } from './chat-api-error.ts';
import type { AnswerSink, ChatEngine } from './chat-engine.ts';
import type { ChatRequest } from './chat-request.ts';
import { DONE_LINE, eventLine } from './event-lines.ts';

export interface StreamEnd {
  /** Aborts when the client has disconnected. */
  signal: AbortSignal;
  /** Called once with the outcome, before the last line is written. */
  finish: (outcome: string) => void;
}

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Prevents nginx from buffering events.
  'X-Accel-Buffering': 'no',
};

/**
 * Streams an engine's events to the client. Resolves when the stream has begun; `finish` reports how it ended. Headers are
 * sent with the first events, so that an engine that cannot answer still determines the HTTP status.
 * @throws ChatApiError until the first write
 */
export function streamAnswer(ctx: Context, engine: ChatEngine, request: ChatRequest, end: StreamEnd): Promise<void> {
  const stream = new AnswerStream(ctx, end);
  // The end is not awaited: the caller would retain the whole request meanwhile.
  engine
    .stream(request, end.signal, stream)
    .then(
      () => stream.end(),
      (thrown: unknown) => stream.fail(thrown),
    )
    .catch((thrown: unknown) => ctx.onerror(asError(thrown)));
  return stream.begun;
}

/**
 * A streamed answer for the client, with `data: [DONE]` at the end. A failure within the stream is sent as one line with the
 * error object and without `[DONE]`, so that the client does not consider the answer complete.
 */
class AnswerStream implements AnswerSink {
  readonly #ctx: Context;
  readonly #response: ServerResponse;
  readonly #end: StreamEnd;
  readonly #begun = new Deferred();
  #hasBegun = false;

  constructor(ctx: Context, end: StreamEnd) {
    this.#ctx = ctx;
    this.#response = ctx.res;
    this.#end = end;
  }

  /** Resolves with the first write. Rejects with any error before it. */
  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  write(events: string): boolean {
    if (!this.#hasBegun) this.#begin();
    return this.#response.write(events);
  }

  drained(): Promise<unknown> {
    return once(this.#response, 'drain', { signal: this.#end.signal });
  }

  end(): void {
    if (!this.#hasBegun) this.#begin();
    this.#end.finish('answered');
    this.#response.end(DONE_LINE);
  }

  fail(thrown: unknown): void {
    if (!this.#hasBegun) return this.#begun.reject(asError(thrown));
    const { signal, finish } = this.#end;
    const error = signal.aborted ? undefined : asChatApiError(thrown);
    finish(error?.code ?? 'left');
    this.#response.end(error ? eventLine(error.toBody()) : '');
  }

  /** Writes to the response directly: a stream in Koa would add a step per event and a second buffer. */
  #begin(): void {
    this.#hasBegun = true;
    this.#ctx.respond = false;
    this.#response.writeHead(200, HEADERS);
    this.#begun.resolve();
  }
}
