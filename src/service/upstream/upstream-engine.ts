import { SECOND_MS } from '../../shared/clock.ts';
import { asError } from '../../shared/coded-error.ts';
import { Deferred } from '../../shared/deferred.ts';
import type { HttpExchange } from '../../shared/http/http-exchange.ts';
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
import { ReplyNormalizer, type ThoughtMemory } from './own-replies.ts';
import { chunksOf, readWholeReply } from './whole-reply.ts';

/** Maximum time for an engine to end its answer after the last event, so that the connection can be reused. */
const END_LIMIT_MS = SECOND_MS;

const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';

/** Passes requests to an OpenAI-compatible engine, with model names mapped in both directions. Nothing is retried here. */
export function createUpstreamEngine(options: UpstreamOptions, surroundings: UpstreamEnvironment): ChatEngine {
  const engine = createEngineCall(options, surroundings);
  const memory: ThoughtMemory = { thinksFirst: new Set() };
  return {
    async complete(request, signal) {
      const parts: Buffer[] = [];
      await engine.send(request, signal, { onHead: () => undefined, onBytes: (bytes) => void parts.push(bytes) });
      return readWholeReply(Buffer.concat(parts), new ReplyNormalizer(request, memory));
    },
    stream(request, signal, sink) {
      const relay = new Relay(new ReplyNormalizer(request, memory), sink);
      relay.follow(engine.send(request, signal, relay), signal);
      return relay.ended;
    },
    close: () => engine.close(),
  };
}

/**
 * Relays the engine's events: all events of one chunk are sent as one chunk, synchronously. The engine is read only as fast
 * as the client reads.
 */
class Relay implements EngineListener {
  readonly #own: ReplyNormalizer;
  readonly #sink: AnswerSink;
  readonly #events = new EngineEvents();
  readonly #ended = new Deferred();
  #exchange: HttpExchange | undefined;
  #endTimer: NodeJS.Timeout | undefined;
  #isOver = false;
  #isWaiting = false;
  #kind: 'events' | 'json' | undefined;
  /** Bytes received before the kind was known, or those of a complete answer. */
  readonly #kept: Buffer[] = [];
  #firstBytes: Buffer | undefined;
  /** Events without content so far. */
  #unsaid = '';

  constructor(own: ReplyNormalizer, sink: AnswerSink) {
    this.#own = own;
    this.#sink = sink;
  }

  /** Resolves after the last event. Rejects with a ChatApiError after all complete events before it. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** @param sent resolves when the engine's answer has ended @param signal aborts when the client has disconnected */
  follow(sent: Promise<void>, signal: AbortSignal): void {
    sent
      .then(
        () => this.#finish(),
        (error: unknown) => {
          if (!signal.aborted) this.#writeHeld();
          this.#ended.reject(asError(error));
        },
      )
      .finally(() => clearTimeout(this.#endTimer));
  }

  onHead(_contentType: string, exchange: HttpExchange): void {
    this.#exchange = exchange;
  }

  onBytes(bytes: Buffer): void {
    // After the [DONE] only the end follows. It is read so that the next request can reuse the connection.
    if (this.#isOver) return;
    try {
      this.#passOn(bytes);
    } catch (thrown) {
      this.#isOver = true;
      this.#exchange?.abort(
        thrown instanceof ChatApiError ? thrown : broken('The engine ended its answer early', thrown),
      );
    }
  }

  #passOn(bytes: Buffer): void {
    if (this.#isWhole(bytes)) return;
    let text = '';
    for (const reply of this.#events.read(this.#firstBytes ?? bytes)) text += eventLine(this.#own.normalize(reply));
    this.#firstBytes = undefined;
    this.#write(text);
    // After a finish reason the answer is complete, whatever follows.
    if (this.#events.failure && !this.#own.hasFinished) throw this.#events.failure;
    if (!this.#events.isDone && !this.#events.failure) return;
    this.#finish();
    this.#endTimer = setTimeout(
      () => this.#exchange?.abort(new Error('The engine did not finish its answer')),
      END_LIMIT_MS,
    );
  }

  /**
   * The content determines the kind of the answer, not its content type: JSON is collected until it is complete. @returns
   * whether the bytes were collected
   */
  #isWhole(bytes: Buffer): boolean {
    if (this.#kind === 'events') return false;
    this.#kept.push(bytes);
    if (this.#kind === undefined) {
      const begun = Buffer.concat(this.#kept).toString('latin1').replace(BYTE_ORDER_MARK, '').trimStart();
      if (begun === '') return true;
      if (begun.startsWith('<')) throw broken('The engine answered with an HTML page');
      this.#kind = begun.startsWith('{') ? 'json' : 'events';
    }
    if (this.#kind === 'json') return true;
    this.#firstBytes = Buffer.concat(this.#kept.splice(0));
    return false;
  }

  #write(text: string): void {
    if (text === '') return;
    // Roles and usage alone are not an answer: an engine that sends no content results in an HTTP error status.
    this.#unsaid += text;
    if (!this.#own.hasContent) return;
    const isRoomy = this.#sink.write(this.#unsaid);
    this.#unsaid = '';
    if (!isRoomy) this.#waitForRoom();
  }

  #waitForRoom(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#exchange?.pause();
    this.#sink
      .drained()
      .then(() => {
        this.#isWaiting = false;
        this.#exchange?.resume();
      })
      // The client has disconnected: the signal ends the exchange.
      .catch(() => undefined);
  }

  /** Ends the answer: no more data is expected. Never throws; `ended` reports missing data. */
  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      if (this.#kind === 'json')
        this.#write(
          chunksOf(Buffer.concat(this.#kept), this.#own)
            .map((chunk) => eventLine(chunk))
            .join(''),
        );
      else {
        let text = '';
        for (const reply of this.#events.end()) text += eventLine(this.#own.normalize(reply));
        const rest = this.#events.isDone ? this.#own.rest('whole') : undefined;
        this.#write(rest ? text + eventLine(rest) : text);
      }
    } catch (thrown) {
      this.#ended.reject(asError(thrown));
      return;
    }
    const isWhole = this.#own.hasContent && (this.#events.isDone || this.#own.hasFinished || this.#kind === 'json');
    if (isWhole) return this.#ended.resolve();
    this.#writeHeld();
    this.#ended.reject(this.#events.failure ?? broken('The engine ended its answer early'));
  }

  /** The client keeps the text of an answer that breaks off. Without any so far, it gets an HTTP error status instead. */
  #writeHeld(): void {
    const rest = this.#own.hasContent ? this.#own.rest('cut') : undefined;
    if (rest) this.#write(eventLine(rest));
  }
}
