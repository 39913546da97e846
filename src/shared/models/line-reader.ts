import { StringDecoder } from 'node:string_decoder';

const LF = 10;
const CR = 13;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * First layer of a stream: bytes to lines. A character may be split across reads, and a line may end in LF, CR or CRLF, even
 * if the pair is split (WHATWG HTML, "Interpreting an event stream"). Broken UTF-8 becomes U+FFFD.
 */
export class LineReader {
  readonly #maxLineChars: number;
  readonly #toError: (message: string) => Error;
  readonly #decoder = new StringDecoder('utf8');
  /** The current incomplete line. */
  #rest = '';
  #isStart = true;
  #skipsLf = false;

  /** @param toError the error for an over-long line */
  constructor(maxLineChars: number, toError: (message: string) => Error) {
    this.#maxLineChars = maxLineChars;
    this.#toError = toError;
  }

  /**
   * @returns the lines completed by these bytes, without line endings. @throws the error of `toError`
   */
  push(bytes: Buffer): string[] {
    const text = this.#decoder.write(bytes);
    const lines: string[] = [];
    if (text === '') return lines;
    let start = this.#firstIndex(text);
    const findEnd = text.includes('\r') ? indexOfLineEnd : indexOfLf;
    for (let end = findEnd(text, start); end !== -1; end = findEnd(text, start)) {
      lines.push(this.#bounded(this.#rest + text.slice(start, end)));
      this.#rest = '';
      start = end + 1;
      if (text.charCodeAt(end) !== CR) continue;
      if (start === text.length) this.#skipsLf = true;
      else if (text.charCodeAt(start) === LF) start += 1;
    }
    this.#rest = this.#bounded(this.#rest + text.slice(start));
    return lines;
  }

  /** @returns the last line if the stream ended without a line ending, else an empty text */
  end(): string {
    return this.#rest + this.#decoder.end();
  }

  #firstIndex(text: string): number {
    const first = text.charCodeAt(0);
    const skips = (this.#skipsLf && first === LF) || (this.#isStart && first === BYTE_ORDER_MARK);
    this.#skipsLf = false;
    this.#isStart = false;
    return skips ? 1 : 0;
  }

  #bounded(line: string): string {
    if (line.length > this.#maxLineChars) throw this.#toError('A line of the stream is too long');
    return line;
  }
}

function indexOfLf(text: string, from: number): number {
  return text.indexOf('\n', from);
}

function indexOfLineEnd(text: string, from: number): number {
  for (let index = from; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === LF || code === CR) return index;
  }
  return -1;
}
