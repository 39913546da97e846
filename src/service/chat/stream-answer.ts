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
  /** Fires when the client has gone. */
  signal: AbortSignal;
  /** Called once, with how the stream ended, before the last line is handed out. */
  finish: (outcome: string) => void;
}

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // nginx would otherwise gather events before it passes them on.
  'X-Accel-Buffering': 'no',
};

/**
 * Streams an engine's events to the client, and resolves when the stream has begun; then `finish` tells how it ended.
 * The first events are waited for, so that an engine which cannot answer is still told by the status.
 * @throws ChatApiError as long as nothing was sent
 */
export function streamAnswer(ctx: Context, engine: ChatEngine, request: ChatRequest, end: StreamEnd): Promise<void> {
  const stream = new AnswerStream(ctx, end);
  // Its end is not waited for: what called us would hold the whole request meanwhile.
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
 * A streamed answer as the client gets it, with `data: [DONE]` at the end. A failure in between is told as one line with the
 * error object and no `[DONE]`: the client must not take the answer for complete.
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

  /** Settles with the first write. Rejects with what failed before it. */
  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  write(events: string): boolean {
    if (!this.#hasBegun) this.#begin();
    return this.#response.write(events);
  }

  room(): Promise<unknown> {
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

  /** Koa would pipe a stream of its own into the answer; written straight, an event takes one step less and no second buffer. */
  #begin(): void {
    this.#hasBegun = true;
    this.#ctx.respond = false;
    this.#response.writeHead(200, HEADERS);
    this.#begun.resolve();
  }
}
