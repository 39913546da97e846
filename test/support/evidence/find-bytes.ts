/** Where one of many byte strings begins. */
export interface Hit<Needle> {
  needle: Needle;
  at: number;
}

/** Slots of a filter for each needle, as a power of two: few places are looked at for nothing. */
const SLOTS_BITS = 7;
/** Half a megabyte and two: what a processor keeps at hand, since a place's slot may be anywhere in it. */
const MOST_END_BITS = 22;
const MOST_PIECE_BITS = 24;
const SPREAD = 2_654_435_761;
const PIECE_BYTES = 4;
/** Whatever stands somewhere has a piece of its last eight bytes at every fifth place, and only there it is looked for. */
const LEAST_BYTES = 8;
const STEP_BYTES = LEAST_BYTES - PIECE_BYTES + 1;

/** Which numbers were put in: never a wrong no, seldom a wrong yes. */
class Filter {
  readonly #shift: number;
  readonly #slots: Int32Array;

  constructor(count: number, mostBits: number) {
    const bits = Math.min(mostBits, Math.ceil(Math.log2(count + 1)) + SLOTS_BITS);
    this.#shift = 32 - bits;
    this.#slots = new Int32Array(1 << Math.max(0, bits - 5));
  }

  add(value: number): void {
    const slot = Math.imul(value, SPREAD) >>> this.#shift;
    this.#slots[slot >>> 5]! |= 1 << (slot & 31);
  }

  mayHave(value: number): boolean {
    const slot = Math.imul(value, SPREAD) >>> this.#shift;
    return (this.#slots[slot >>> 5]! & (1 << (slot & 31))) !== 0;
  }
}

/**
 * Looks for many byte strings at once: one place in five is looked at, and two filters let nearly all of these be passed over,
 * so that the time hardly grows with their number. Told apart by their ends, since the beginnings of tokens are often the same.
 */
export class ByteFinder<Needle extends { bytes: Buffer }> {
  readonly #pieces: Filter;
  readonly #ends: Filter;
  readonly #byEnd = new Map<number, Needle[]>();

  /** @param needles of at least eight bytes each @throws RangeError when one is shorter */
  constructor(needles: readonly Needle[]) {
    this.#pieces = new Filter(needles.length * STEP_BYTES, MOST_PIECE_BITS);
    this.#ends = new Filter(needles.length, MOST_END_BITS);
    for (const needle of needles) {
      const { bytes } = needle;
      if (bytes.length < LEAST_BYTES) throw new RangeError(`${bytes.length} bytes are too few to be looked for`);
      for (let at = bytes.length - LEAST_BYTES; at <= bytes.length - PIECE_BYTES; at += 1)
        this.#pieces.add(pieceAt(bytes, at));
      const last = endAt(bytes, bytes.length);
      this.#ends.add(last);
      const others = this.#byEnd.get(last);
      if (others) others.push(needle);
      else this.#byEnd.set(last, [needle]);
    }
  }

  /** @returns every place of every needle, in the order of their ends */
  find(hay: Buffer): Hit<Needle>[] {
    const hits: Hit<Needle>[] = [];
    for (let at = 0; at + PIECE_BYTES <= hay.length; at += STEP_BYTES) {
      if (!this.#pieces.mayHave(pieceAt(hay, at))) continue;
      const lastEnd = Math.min(at + LEAST_BYTES, hay.length);
      for (let end = Math.max(at + PIECE_BYTES, LEAST_BYTES); end <= lastEnd; end += 1) {
        const last = endAt(hay, end);
        if (this.#ends.mayHave(last)) this.#compare(hay, end, last, hits);
      }
    }
    return hits;
  }

  #compare(hay: Buffer, end: number, last: number, hits: Hit<Needle>[]): void {
    for (const needle of this.#byEnd.get(last) ?? []) {
      const at = end - needle.bytes.length;
      if (at >= 0 && needle.bytes.compare(hay, at, end) === 0) hits.push({ needle, at });
    }
  }
}

/** The last eight bytes before a place, as one number; seldom the same for others. */
function endAt(bytes: Buffer, end: number): number {
  return Math.imul(pieceAt(bytes, end - LEAST_BYTES), SPREAD) ^ pieceAt(bytes, end - PIECE_BYTES);
}

function pieceAt(bytes: Buffer, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}
