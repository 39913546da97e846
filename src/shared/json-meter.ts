const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

/**
 * Counts the values in JSON before it is parsed. A parser creates an object of dozens of bytes for each pair of brackets, so
 * the size of a text says little about its cost. Reads bytes as they arrive, in linear time and constant memory. Each comma
 * and each opening bracket outside strings counts as one value at most. Invalid JSON is counted the same way and left to the
 * parser to reject.
 */
export class JsonMeter {
  #values = 1;
  #isInText = false;
  #isEscaped = false;

  /** Upper bound of the number of values read. */
  get values(): number {
    return this.#values;
  }

  update(bytes: Uint8Array): void {
    let values = this.#values;
    let isInText = this.#isInText;
    let isEscaped = this.#isEscaped;
    // An index loop: an iterator costs ten times as much, and a body may have 32 MiB.
    // oxlint-disable-next-line typescript/prefer-for-of
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (!isInText) {
        if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) values += 1;
        else if (byte === QUOTE) isInText = true;
      } else if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = true;
      else if (byte === QUOTE) isInText = false;
    }
    this.#values = values;
    this.#isInText = isInText;
    this.#isEscaped = isEscaped;
  }
}
