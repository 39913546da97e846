import { ChatError } from './chat-error.ts';

/** What ends a chat stream in place of a JSON chunk. */
export const DONE = '[DONE]';

export interface StreamedEvent {
  /** The `event:` field; chat services leave it out but for errors. */
  name: string | undefined;
  data: string;
}

/**
 * Second layer: lines to server-sent events. Comments and unknown fields are passed over, several `data:` lines form one
 * event. The service's text promises only lines, no blank ones between: so a new payload also ends a whole one before it.
 */
export class EventReader {
  readonly #maxEventChars: number;
  #name: string | undefined;
  #data: string | undefined;

  constructor(maxEventChars: number) {
    this.#maxEventChars = maxEventChars;
  }

  /** @returns the event that this line completed, if any. @throws ChatError `chat_bad_stream` for an over-long event */
  push(line: string): StreamedEvent | undefined {
    if (line === '') return this.flush();
    if (line.startsWith('data:')) return this.#addData(valueOf(line, 'data:'.length));
    if (line.startsWith('event:')) this.#name = valueOf(line, 'event:'.length);
    return undefined;
  }

  /** Ends the event that has begun, if any: at a blank line and at the end of the stream. */
  flush(): StreamedEvent | undefined {
    const data = this.#data;
    const name = this.#name;
    this.#data = undefined;
    this.#name = undefined;
    return data === undefined ? undefined : { name, data };
  }

  #addData(value: string): StreamedEvent | undefined {
    const before = this.#data;
    if (before === undefined) {
      this.#data = value;
      return undefined;
    }
    if (startsPayload(value) && isWhole(before)) {
      const event = this.flush();
      this.#data = value;
      return event;
    }
    this.#data = `${before}\n${value}`;
    if (this.#data.length > this.#maxEventChars)
      throw new ChatError('chat_bad_stream', 'An event of the stream is too long');
    return undefined;
  }
}

function valueOf(line: string, start: number): string {
  return line.slice(line.charCodeAt(start) === 32 ? start + 1 : start);
}

function startsPayload(data: string): boolean {
  return data.startsWith('{') || data === DONE;
}

function isWhole(data: string): boolean {
  if (!data.endsWith('}')) return false;
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}
