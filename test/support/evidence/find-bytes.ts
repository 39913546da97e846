/** Where one of many byte strings begins. */
export interface Hit<Needle> {
  needle: Needle;
  at: number;
}

/** Slots of the filter for each needle, as a power of two: so one place in a hundred is looked at for nothing. */
const SLOTS_BITS = 7;
const MOST_BITS = 22;
const SPREAD = 2_654_435_761;

/**
 * Looks for many byte strings at once: a slot for each end of four bytes lets nearly every place be passed over without a
 * look-up, so that the time hardly grows with their number. Ends, since the beginnings of tokens are often the same.
 */
export class ByteFinder<Needle extends { bytes: Buffer }> {
  readonly #shift: number;
  readonly #filter: Uint8Array;
  readonly #byEnd = new Map<number, Needle[]>();

  /** @param needles of at least four bytes each */
  constructor(needles: readonly Needle[]) {
    const bits = Math.min(MOST_BITS, Math.ceil(Math.log2(needles.length + 1)) + SLOTS_BITS);
    this.#shift = 32 - bits;
    this.#filter = new Uint8Array(1 << bits);
    for (const needle of needles) {
      const last = needle.bytes.readUInt32BE(needle.bytes.length - 4);
      this.#filter[Math.imul(last, SPREAD) >>> this.#shift] = 1;
      const others = this.#byEnd.get(last);
      if (others) others.push(needle);
      else this.#byEnd.set(last, [needle]);
    }
  }

  find(hay: Buffer): Hit<Needle>[] {
    // Locals and no generator: this loop sees every byte of a run.
    const filter = this.#filter;
    const shift = this.#shift;
    const { imul } = Math;
    const hits: Hit<Needle>[] = [];
    let last = 0;
    for (let end = 1; end <= hay.length; end += 1) {
      last = (last << 8) | (hay[end - 1] as number);
      if (filter[imul(last, SPREAD) >>> shift] === 1 && end >= 4) this.#compare(hay, end, last >>> 0, hits);
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
