import { createParser } from 'eventsource-parser';
import { MIB_BYTES, MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';
import { classifyEngineError } from '../../shared/models/engine-error.ts';
import { parseJson } from '../../shared/models/json-scan.ts';
import { errorIn, readPayload } from '../../shared/models/stream-payload.ts';
import { ChatApiError } from '../chat/chat-api-error.ts';
import type { EngineReply } from './own-replies.ts';

/** An event or a line that never ends must not fill the memory. */
const MAX_EVENT_CHARS = MIB_BYTES;

/**
 * Reads an engine's server-sent events as JSON objects, however the bytes are cut. What says nothing (comments, `ping`, `null`, events
 * without data) is passed over.
 */
export class EngineEvents {
  readonly #decoder = new TextDecoder();
  #waiting: { name: string | undefined; data: string }[] = [];
  readonly #parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent: ({ event, data }) => void this.#waiting.push({ name: event, data }),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') this.failure = broken('The engine sent a line without end');
    },
  });
  /** `[DONE]` was read; what the engine still sends is of no interest. */
  isDone = false;
  /** Set when the bytes made no sense, or the engine told of an error of its own; `read` must not be called again then. */
  failure: ChatApiError | undefined;

  /** @returns the whole events up to here, up to a `[DONE]` or a failure */
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

/** Reads a whole answer: a JSON object, or what came as events or lines of JSON in its place. @throws ChatApiError */
export function readReplies(text: string): EngineReply[] {
  const trimmed = text.trim();
  if (trimmed.startsWith('<')) throw broken('The engine answered with a page');
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
  if (body === 'torn') return broken('The engine sent something that makes no sense');
  if (typeof body === 'string') return body === 'done' ? body : undefined;
  const error = errorIn(body);
  return error === undefined ? body : failureOf(error);
}

function errorEvent(data: string): ChatApiError {
  return failureOf(parseJson(data) ?? data);
}

/** What an error in an answer of status 200 means to the caller. */
function failureOf(error: unknown): ChatApiError {
  const { kind, retryAfterMs = SECOND_MS } = classifyEngineError(200, error);
  if (kind === 'limited') {
    const retryAfterSec = Math.ceil(Math.min(MINUTE_MS, Math.max(SECOND_MS, retryAfterMs)) / SECOND_MS);
    return new ChatApiError('rate_limit_exceeded', 'The engine behind this service asks to wait', { retryAfterSec });
  }
  if (kind === 'too-long')
    return new ChatApiError('request_too_large', 'The request is too large for the engine behind this service');
  return broken('The engine told of an error of its own');
}

/** The engine's own words are never told: they may hold the conversation. */
export function broken(message: string, cause?: unknown): ChatApiError {
  return new ChatApiError('unavailable', message, { retryAfterSec: 5, cause });
}
