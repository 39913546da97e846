/** Numbers in as few bytes as they need, one behind the other, in memory that grows. */
export class ByteWriter {
  #bytes = new Uint8Array(4_096);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Seven bits a byte, the highest tells that more follow. @param value below 2^31 */
  varint(value: number): void {
    if (this.#length + 5 > this.#bytes.length) this.#grow();
    let left = value;
    while (left > 0x7f) {
      this.#bytes[this.#length++] = (left & 0x7f) | 0x80;
      left >>>= 7;
    }
    this.#bytes[this.#length++] = left;
  }

  written(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #grow(): void {
    const larger = new Uint8Array(this.#bytes.length * 2);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** How often a term counts in one passage; more says nothing more. */
export const MOST_OCCURRENCES = 255;

/** Writes in which passages a term stands, in rising order, and how often. @param pairs passage, count, passage, count, … */
export function writePostings(writer: ByteWriter, pairs: readonly number[]): void {
  let before = -1;
  for (let at = 0; at < pairs.length; at += 2) {
    const passage = pairs[at] as number;
    const count = Math.min(pairs[at + 1] as number, MOST_OCCURRENCES);
    writer.varint((passage - before - 1) * 2 + (count > 1 ? 1 : 0));
    if (count > 1) writer.varint(count);
    before = passage;
  }
}

/** Reads what `writePostings` wrote between two places. */
export function eachPosting(
  bytes: Uint8Array,
  from: number,
  to: number,
  take: (passage: number, count: number) => void,
): void {
  let at = from;
  const next = (): number => {
    let value = 0;
    let shift = 0;
    while (at < to) {
      const byte = bytes[at++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
      shift += 7;
    }
    return value >>> 0;
  };
  let passage = -1;
  while (at < to) {
    const head = next();
    passage += (head >>> 1) + 1;
    take(passage, head & 1 ? next() : 1);
  }
}
