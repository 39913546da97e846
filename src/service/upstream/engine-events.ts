import { createParser } from 'eventsource-parser';
import { MIB_BYTES } from '../../base/clock.ts';
import { ChatApiError } from '../chat/chat-api-error.ts';
import type { EngineReply } from './own-replies.ts';

/** An event or a line that never ends must not fill the memory. */
const MAX_EVENT_CHARS = MIB_BYTES;

/**
 * Reads an engine's server-sent events as JSON objects, however the bytes are cut. What an engine sends beside them
 * (comments, named events without data) is passed over.
 */
export class EngineEvents {
  readonly #decoder = new TextDecoder();
  #waiting: string[] = [];
  readonly #parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent: ({ data }) => void this.#waiting.push(data),
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
    for (const data of this.#waiting) {
      this.isDone = data === '[DONE]';
      if (this.isDone) break;
      const reply = parse(data);
      if (!reply) {
        this.failure = broken('The engine sent something that makes no sense');
        break;
      }
      replies.push(reply);
    }
    this.#waiting = [];
    return replies;
  }
}

function parse(data: string): EngineReply | undefined {
  try {
    const reply: unknown = JSON.parse(data);
    const isReply = typeof reply === 'object' && reply !== null && !Array.isArray(reply);
    return isReply && !('error' in reply && reply.error) ? reply : undefined;
  } catch {
    return undefined;
  }
}

/** The engine's own words are never told: they may hold the conversation. */
export function broken(message: string, cause?: unknown): ChatApiError {
  return new ChatApiError('unavailable', message, { retryAfterSec: 5, cause });
}
