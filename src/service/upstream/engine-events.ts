import { createParser } from 'eventsource-parser';
import { MIB_BYTES, MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';
import { classifyEngineError } from '../../shared/models/engine-error.ts';
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
  readonly #decoder = new TextDecoder();
  #waiting: { name: string | undefined; data: string }[] = [];
  readonly #parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent: ({ event, data }) => void this.#waiting.push({ name: event, data }),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') this.failure = broken('The engine sent an overlong line');
    },
  });
  /** `[DONE]` was read; later data is ignored. */
  isDone = false;
  /** Set if the bytes could not be parsed, or the engine reported an error; `read` must then not be called again. */
  failure: ChatApiError | undefined;

  /** @returns the complete events so far, up to a `[DONE]` or a failure */
  read(bytes: Uint8Array): EngineReply[] {
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    if (this.#waiting.length === 0) return [];
    const replies: EngineReply[] = [];
    for (const { name, data } of this.#waiting) {
      const reply = name === 'error' ? errorEvent(data) : readReply(data);
      this.isDone = reply === 'done';
      if (this.isDone) break;
      if (reply instanceof ChatApiError) {
        this.failure = reply;
        break;
      }
      if (typeof reply === 'object') replies.push(reply);
    }
    this.#waiting = [];
    return replies;
  }
}

/** Parses a complete answer: a JSON object, or events or JSON lines in its place. @throws ChatApiError */
export function readReplies(text: string): EngineReply[] {
  const trimmed = text.trim();
  if (trimmed.startsWith('<')) throw broken('The engine answered with an HTML page');
  const lines = parseJson(trimmed) === undefined ? trimmed.split('\n') : [trimmed];
  const read = lines.map((line) => readReply(line.replace(/^data:/, '')));
  const failure = read.find((reply) => reply instanceof ChatApiError);
  const replies = read.filter(
    (reply): reply is EngineReply => typeof reply === 'object' && !(reply instanceof ChatApiError),
  );
  if (failure && !replies.some(hasFinished)) throw failure;
  return replies;
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
