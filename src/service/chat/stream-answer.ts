import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { asError } from '../../base/coded-error.ts';
import { asChatApiError } from './chat-api-error.ts';
import type { ChatEngine } from './chat-engine.ts';
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
export async function streamAnswer(
  ctx: Context,
  engine: ChatEngine,
  request: ChatRequest,
  { signal, finish }: StreamEnd,
): Promise<void> {
  const events = engine.stream(request, signal)[Symbol.asyncIterator]();
  const first = await events.next();
  // Koa would pipe a stream of its own into the answer; written straight, an event takes one step less and no second buffer.
  ctx.respond = false;
  ctx.res.writeHead(200, HEADERS);
  // Not waited for: what called us would hold the whole request meanwhile.
  passOn(ctx.res, first, events, { signal, finish }).catch((thrown: unknown) => ctx.onerror(asError(thrown)));
}

/**
 * Writes events with `data: [DONE]` at the end. The engine is asked for more only while the client has room.
 * A failure in between is told as one line with the error object and no `[DONE]`: the client must not take the answer for complete.
 */
async function passOn(
  response: ServerResponse,
  first: IteratorResult<string>,
  events: AsyncIterator<string>,
  { signal, finish }: StreamEnd,
): Promise<void> {
  let outcome = 'left';
  let lastLine = '';
  try {
    for (let step = first; !step.done; step = await events.next()) {
      if (!response.write(step.value)) await once(response, 'drain', { signal });
    }
    outcome = 'answered';
    lastLine = DONE_LINE;
  } catch (thrown) {
    if (!signal.aborted) {
      const error = asChatApiError(thrown);
      outcome = error.code;
      lastLine = eventLine(error.toBody());
    }
  } finally {
    finish(outcome);
    // An engine that was held back is let go too.
    await events.return?.();
  }
  response.end(lastLine);
}
