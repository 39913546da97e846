/** A growable buffer for variable-length integers. */
export class ByteWriter {
  #bytes = new Uint8Array(4_096);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Seven bits per byte; the high bit marks continuation. @param value below 2^31 */
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

/** Maximum term count per passage. Higher counts have no effect on the ranking. */
export const MAX_OCCURRENCES = 255;

/**
 * Writes the passages of a term, in ascending order, with the term count in each.
 * @param pairs passage, count, passage, count, …
 */
export function writePostings(writer: ByteWriter, pairs: readonly number[]): void {
  let before = -1;
  for (let at = 0; at < pairs.length; at += 2) {
    const passage = pairs[at] as number;
    const count = Math.min(pairs[at + 1] as number, MAX_OCCURRENCES);
    writer.varint((passage - before - 1) * 2 + (count > 1 ? 1 : 0));
    if (count > 1) writer.varint(count);
    before = passage;
  }
}

/** Passages with a term and the term's count in each. Filled from index 0. */
export interface CollectedPostings {
  passages: Uint32Array;
  counts: Uint32Array;
}

/**
 * Decodes the postings between two offsets and collects those of readable documents. A single loop without calls, because
 * common words have tens of thousands of postings.
 * @param document document of each passage
 * @param counts whether a document is included
 * @param begin first free index
 * @returns the next free index
 */
export function collectPostings(
  bytes: Uint8Array,
  range: { from: number; to: number },
  { document, counts }: { document: Uint32Array; counts: Uint8Array },
  collected: CollectedPostings,
  begin: number,
): number {
  const { passages, counts: times } = collected;
  const { to } = range;
  let place = begin;
  let passage = -1;
  for (let at = range.from; at < to;) {
    let head = bytes[at++] as number;
    if (head > 0x7f) {
      head &= 0x7f;
      for (let shift = 7, more = true; more && at < to; shift += 7) {
        const byte = bytes[at++] as number;
        head |= (byte & 0x7f) << shift;
        more = byte > 0x7f;
      }
    }
    let count = 1;
    if ((head & 1) === 1) {
      count = bytes[at++] as number;
      if (count > 0x7f) count = (count & 0x7f) + (bytes[at++] as number) * 128;
    }
    passage += (head >>> 1) + 1;
    if (counts[document[passage] as number] !== 1) continue;
    passages[place] = passage;
    times[place] = count;
    place += 1;
  }
  return place;
}
