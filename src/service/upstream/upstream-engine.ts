import { SECOND_MS } from '../../base/clock.ts';
import { asError } from '../../base/coded-error.ts';
import { Deferred } from '../../base/deferred.ts';
import type { HttpExchange } from '../../base/http-exchange.ts';
import { ChatApiError } from '../chat/chat-api-error.ts';
import type { AnswerSink, ChatEngine } from '../chat/chat-engine.ts';
import { eventLine } from '../chat/event-lines.ts';
import {
  createEngineCall,
  type EngineListener,
  type UpstreamOptions,
  type UpstreamEnvironment,
} from './engine-call.ts';
import { broken, EngineEvents } from './engine-events.ts';
import { OwnReplies, type EngineReply } from './own-replies.ts';

/** How long an engine may take to end its answer after its last event, so that the connection can serve again. */
const END_LIMIT_MS = SECOND_MS;

/** Passes requests to an OpenAI-compatible engine, with model names mapped there and back. Nothing is retried here. */
export function createUpstreamEngine(options: UpstreamOptions, surroundings: UpstreamEnvironment): ChatEngine {
  const engine = createEngineCall(options, surroundings);
  return {
    async complete(request, signal) {
      const parts: Buffer[] = [];
      await engine.send(request, signal, { onHead: () => undefined, onBytes: (bytes) => void parts.push(bytes) });
      return new OwnReplies(request).take(readWhole(Buffer.concat(parts)));
    },
    stream(request, signal, sink) {
      const relay = new Relay(new OwnReplies(request), sink);
      relay.follow(engine.send(request, signal, relay));
      return relay.ended;
    },
    close: () => engine.close(),
  };
}

/**
 * The engine's events as ours: all that came in one piece go out in one piece, in the step in which they come. The engine is
 * read only as fast as the client reads.
 */
class Relay implements EngineListener {
  readonly #own: OwnReplies;
  readonly #sink: AnswerSink;
  readonly #events = new EngineEvents();
  readonly #ended = new Deferred();
  #exchange: HttpExchange | undefined;
  #endTimer: NodeJS.Timeout | undefined;
  #hasSpoken = false;
  #isOver = false;
  #isWaiting = false;

  constructor(own: OwnReplies, sink: AnswerSink) {
    this.#own = own;
    this.#sink = sink;
  }

  /** Settles after the last event. Rejects with a ChatApiError after the events that came whole before. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** @param sent settles when the engine's answer has ended */
  follow(sent: Promise<void>): void {
    sent
      .then(
        () => this.#finish(),
        (error: unknown) => this.#ended.reject(asError(error)),
      )
      .finally(() => clearTimeout(this.#endTimer));
  }

  onHead(contentType: string, exchange: HttpExchange): void {
    if (!/^text\/event-stream\b/i.test(contentType)) throw broken('The engine did not answer with a stream');
    this.#exchange = exchange;
  }

  onBytes(bytes: Buffer): void {
    // After the [DONE] comes nothing but the end, which is read so that the next request finds an open connection.
    if (this.#isOver) return;
    try {
      this.#passOn(bytes);
    } catch (thrown) {
      this.#isOver = true;
      this.#exchange?.abort(
        thrown instanceof ChatApiError ? thrown : broken('The engine broke off its answer', thrown),
      );
    }
  }

  #passOn(bytes: Buffer): void {
    let text = '';
    for (const reply of this.#events.read(bytes)) text += eventLine(this.#own.take(reply));
    if (text !== '') {
      this.#hasSpoken = true;
      if (!this.#sink.write(text)) this.#waitForRoom();
    }
    if (this.#events.failure) throw this.#events.failure;
    if (!this.#events.isDone) return;
    this.#finish();
    this.#endTimer = setTimeout(() => this.#exchange?.abort(new Error('The engine did not end')), END_LIMIT_MS);
  }

  #waitForRoom(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#exchange?.pause();
    this.#sink
      .room()
      .then(() => {
        this.#isWaiting = false;
        this.#exchange?.resume();
      })
      // The client has gone: the signal ends the exchange.
      .catch(() => undefined);
  }

  /** Nothing more is expected. @throws nothing; what is missing is told by `ended` */
  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const isWhole = this.#hasSpoken && (this.#events.isDone || this.#own.hasFinished);
    if (isWhole) this.#ended.resolve();
    else this.#ended.reject(broken('The engine broke off its answer'));
  }
}

function readWhole(body: Buffer): EngineReply {
  const reply = parse(body.toString('utf8'));
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own error quotes the text.
    throw broken('The engine broke off its answer, or it makes no sense');
  }
}
