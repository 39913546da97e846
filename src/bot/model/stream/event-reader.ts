import { ChatError } from '../chat-error.ts';
import { parseJson } from '../../../shared/parse-json.ts';

export interface StreamedEvent {
  /** The `event:` field. Chat services omit it except for errors. */
  name: string | undefined;
  data: string;
}

/**
 * Second layer: lines to server-sent events. Comments and unknown fields are ignored; several `data:` lines form one event.
 * The service's documentation does not promise blank lines between events, so a new payload also ends a preceding one-line
 * payload.
 */
export class EventReader {
  readonly #maxEventChars: number;
  #name: string | undefined;
  /** Data lines of the event, joined once: joining at each line would have quadratic cost. */
  #lines: string[] = [];
  #chars = 0;

  constructor(maxEventChars: number) {
    this.#maxEventChars = maxEventChars;
  }

  /** @returns the event that this line completes, if any. @throws ChatError `chat_bad_stream` for an over-long event */
  push(line: string): StreamedEvent | undefined {
    if (line === '') return this.flush();
    if (line.startsWith('data:')) return this.#addData(valueOf(line, 'data:'.length));
    if (line.startsWith('event:')) this.#name = valueOf(line, 'event:'.length);
    return undefined;
  }

  /** Ends the current event, if any. Called at a blank line and at the end of the stream. */
  flush(): StreamedEvent | undefined {
    const [first] = this.#lines;
    const event =
      first === undefined
        ? undefined
        : { name: this.#name, data: this.#lines.length === 1 ? first : this.#lines.join('\n') };
    this.#lines = [];
    this.#chars = 0;
    this.#name = undefined;
    return event;
  }

  #addData(value: string): StreamedEvent | undefined {
    const [first] = this.#lines;
    const isNext = first !== undefined && this.#lines.length === 1 && (isWhole(first) || isNoiseBefore(first, value));
    const event = isNext ? this.flush() : undefined;
    this.#lines.push(value);
    this.#chars += value.length + 1;
    if (this.#chars > this.#maxEventChars) throw new ChatError('chat_bad_stream', 'An event of the stream is too long');
    return event;
  }
}

function valueOf(line: string, start: number): string {
  return line.slice(line.charCodeAt(start) === 32 ? start + 1 : start);
}

/** A line that does not begin an object cannot be part of the object that follows. */
function isNoiseBefore(first: string, next: string): boolean {
  return !first.startsWith('{') && next.startsWith('{');
}

function isWhole(data: string): boolean {
  return data.trimEnd().endsWith('}') && parseJson(data) !== undefined;
}
