import { parseJson } from '../parse-json.ts';

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
  readonly #toError: (message: string) => Error;
  #name: string | undefined;
  /** The first data line of the event, usually the only one. */
  #first: string | undefined;
  /** All data lines if there are several, joined once: joining at each line would have quadratic cost. */
  #more: string[] | undefined;
  #chars = 0;

  /** @param toError the error for an over-long event */
  constructor(maxEventChars: number, toError: (message: string) => Error) {
    this.#maxEventChars = maxEventChars;
    this.#toError = toError;
  }

  /** @returns the event that this line completes, if any. @throws the error of `toError` */
  push(line: string): StreamedEvent | undefined {
    if (line === '') return this.flush();
    if (line.startsWith('data:')) return this.#addData(valueOf(line, 'data:'.length));
    if (line.startsWith('event:')) this.#name = valueOf(line, 'event:'.length);
    // llama.cpp reports a failure within a stream in a field of its own.
    if (!line.startsWith('error:')) return undefined;
    const event = this.flush();
    this.#name = 'error';
    this.#addData(valueOf(line, 'error:'.length));
    return event;
  }

  /** Ends the current event, if any. Called at a blank line and at the end of the stream. */
  flush(): StreamedEvent | undefined {
    const data = this.#more?.join('\n') ?? this.#first;
    const event = data === undefined ? undefined : { name: this.#name, data };
    this.#first = undefined;
    this.#more = undefined;
    this.#chars = 0;
    this.#name = undefined;
    return event;
  }

  #addData(value: string): StreamedEvent | undefined {
    const first = this.#first;
    const isNext = first !== undefined && this.#more === undefined && (isWhole(first) || isNoiseBefore(first, value));
    const event = isNext ? this.flush() : undefined;
    if (this.#first === undefined) this.#first = value;
    else (this.#more ??= [this.#first]).push(value);
    this.#chars += value.length + 1;
    if (this.#chars > this.#maxEventChars) throw this.#toError('An event of the stream is too long');
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
