import { MIB_BYTES, MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';
import { classifyEngineError } from '../../shared/models/engine-error.ts';
import { EventReader, type StreamedEvent } from '../../shared/models/event-reader.ts';
import { LineReader } from '../../shared/models/line-reader.ts';
import { errorIn, readPayload } from '../../shared/models/stream-payload.ts';
import { ChatApiError } from '../chat/chat-api-error.ts';
import type { EngineReply } from './own-replies.ts';
import { parseJson } from '../../shared/parse-json.ts';

/** Maximum size of an event or a line, so that an endless one cannot exhaust memory. */
const MAX_EVENT_CHARS = MIB_BYTES;

/**
 * Parses an engine's server-sent events as JSON objects, wherever the bytes are split. Events without content (comments,
 * `ping`, `null`, events without data) are skipped.
 */
export class EngineEvents {
  readonly #lines = new LineReader(MAX_EVENT_CHARS, broken);
  readonly #events = new EventReader(MAX_EVENT_CHARS, broken);
  /** `[DONE]` was read; later data is ignored. */
  isDone = false;
  /** Set if the bytes could not be parsed, or the engine reported an error; later data is ignored. */
  failure: ChatApiError | undefined;

  /** @returns the complete events so far, up to a `[DONE]` or a failure */
  read(bytes: Buffer): EngineReply[] {
    return this.#collect((replies) => {
      for (const line of this.#lines.push(bytes)) this.#take(this.#events.push(line), replies);
    });
  }

  /** @returns the events of a last line or event that is not terminated */
  end(): EngineReply[] {
    return this.#collect((replies) => {
      const lastLine = this.#lines.end();
      if (lastLine !== '') this.#take(this.#events.push(lastLine), replies);
      this.#take(this.#events.flush(), replies);
    });
  }

  #collect(read: (replies: EngineReply[]) => void): EngineReply[] {
    const replies: EngineReply[] = [];
    try {
      read(replies);
    } catch (thrown) {
      if (!(thrown instanceof ChatApiError)) throw thrown;
      this.failure ??= thrown;
    }
    return replies;
  }

  #take(event: StreamedEvent | undefined, replies: EngineReply[]): void {
    if (!event || this.isDone || this.failure) return;
    const reply = event.name === 'error' ? errorEvent(event.data) : readReply(event.data);
    if (reply === 'done') this.isDone = true;
    else if (reply instanceof ChatApiError) this.failure = reply;
    else if (reply) replies.push(reply);
  }
}

/** A complete answer in parts. */
export interface ReadReplies {
  replies: EngineReply[];
  /** The engine sent the end marker of a stream. */
  isDone: boolean;
}

/** Parses a complete answer: a JSON object, or events or JSON lines in its place. @throws ChatApiError */
export function readReplies(body: Buffer): ReadReplies {
  const text = body.toString('utf8').trim();
  if (text.startsWith('<')) throw broken('The engine answered with an HTML page');
  if (!text.startsWith('{')) {
    const events = new EngineEvents();
    const replies = [...events.read(body), ...events.end()];
    if (events.failure && !replies.some(hasFinished)) throw events.failure;
    return { replies, isDone: events.isDone };
  }
  const lines = parseJson(text) === undefined ? text.split('\n') : [text];
  const read = lines.map(readReply);
  const failure = read.find((reply) => reply instanceof ChatApiError);
  const replies = read.filter(
    (reply): reply is EngineReply => typeof reply === 'object' && !(reply instanceof ChatApiError),
  );
  if (failure && !replies.some(hasFinished)) throw failure;
  return { replies, isDone: read.includes('done') };
}

function hasFinished({ choices }: EngineReply): boolean {
  return (
    Array.isArray(choices) &&
    choices.some((choice: { finish_reason?: unknown } | null) => Boolean(choice?.finish_reason))
  );
}

function readReply(data: string): EngineReply | ChatApiError | 'done' | undefined {
  const body = readPayload(data);
  if (body === 'torn') return broken('The engine sent an invalid event');
  if (typeof body === 'string') return body === 'done' ? body : undefined;
  const error = errorIn(body);
  return error === undefined ? body : failureOf(error);
}

function errorEvent(data: string): ChatApiError {
  return failureOf(parseJson(data) ?? data);
}

/** Maps an error in a response of status 200 to an error for the caller. */
function failureOf(error: unknown): ChatApiError {
  const { kind, retryAfterMs = SECOND_MS } = classifyEngineError(200, error);
  if (kind === 'limited') {
    const retryAfterSec = Math.ceil(Math.min(MINUTE_MS, Math.max(SECOND_MS, retryAfterMs)) / SECOND_MS);
    return new ChatApiError('rate_limit_exceeded', 'The engine behind this service is busy; try again later', {
      retryAfterSec,
    });
  }
  if (kind === 'too-long')
    return new ChatApiError('request_too_large', 'The request is too large for the engine behind this service');
  return broken('The engine reported an internal error');
}

/** The engine's own message is never passed on: it may contain the conversation. */
export function broken(message: string, cause?: unknown): ChatApiError {
  return new ChatApiError('unavailable', message, { retryAfterSec: 5, cause });
}
