import type { Dispatcher } from 'undici';
import { SECOND_MS } from '../../base/clock.ts';
import { ChatApiError } from '../chat/chat-api-error.ts';
import type { ChatEngine } from '../chat/chat-engine.ts';
import { eventLine } from '../chat/event-lines.ts';
import { createEngineCall, type UpstreamOptions, type UpstreamSurroundings } from './engine-call.ts';
import { broken, EngineEvents } from './engine-events.ts';
import { OwnReplies, type EngineReply } from './own-replies.ts';

type Body = Dispatcher.ResponseData['body'];

/** How long an engine may take to end its answer after its last event, so that the connection can serve again. */
const END_LIMIT_MS = SECOND_MS;

/** Passes requests to an OpenAI-compatible engine, with model names mapped there and back. Nothing is retried here. */
export function createUpstreamEngine(options: UpstreamOptions, surroundings: UpstreamSurroundings): ChatEngine {
  const engine = createEngineCall(options, surroundings);
  return {
    async complete(request, signal) {
      const { body } = await engine.send(request, signal);
      return new OwnReplies(request).take(await readWhole(body));
    },
    // The request itself is not held while the answer runs: with images it may be large.
    stream: (request, signal) => relay(engine.send(request, signal), new OwnReplies(request)),
    close: () => engine.close(),
  };
}

/**
 * The engine's events as ours: all that came in one piece go out in one piece. The body is read only as fast as pieces are taken.
 * @throws ChatApiError after the events that came whole before
 */
async function* relay(answer: Promise<Dispatcher.ResponseData>, own: OwnReplies): AsyncGenerator<string> {
  const { body, headers } = await answer;
  if (!/^text\/event-stream\b/i.test(String(headers['content-type'] ?? ''))) {
    leave(body);
    throw broken('The engine did not answer with a stream');
  }
  const events = new EngineEvents();
  let hasSpoken = false;
  try {
    for await (const bytes of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      let text = '';
      for (const reply of events.read(bytes)) text += eventLine(own.take(reply));
      if (text !== '') {
        hasSpoken = true;
        yield text;
      }
      if (events.failure) throw events.failure;
      if (events.isDone) break;
    }
    if (!hasSpoken || !(events.isDone || own.hasFinished)) throw broken('The engine broke off its answer');
  } catch (cause) {
    throw cause instanceof ChatApiError ? cause : broken('The engine broke off its answer', cause);
  } finally {
    if (events.isDone) letEnd(body);
    // Also when the client left early: the connection is given up, so that the engine stops working.
    else leave(body);
  }
}

/** Reads the rest, which is nothing but the end, so that the next request finds an open connection. */
function letEnd(body: Body): void {
  const timer = setTimeout(() => leave(body), END_LIMIT_MS);
  body
    .on('error', () => undefined)
    .on('close', () => clearTimeout(timer))
    .resume();
}

function leave(body: Body): void {
  body.on('error', () => undefined).destroy();
}

async function readWhole(body: Body): Promise<EngineReply> {
  const reply = await body.json().catch((cause: unknown) => {
    throw broken('The engine broke off its answer, or it makes no sense', cause);
  });
  // Some engines tell of a fault with status 200.
  const isReply =
    typeof reply === 'object' &&
    reply !== null &&
    !('error' in reply && reply.error) &&
    'choices' in reply &&
    Array.isArray(reply.choices) &&
    reply.choices.length > 0;
  if (!isReply) throw broken('The engine gave an answer that makes no sense');
  return reply;
}
