/** Where one of many byte strings begins. */
export interface Hit<Needle> {
  needle: Needle;
  at: number;
}

const FILTER_BITS = 20;
const SPREAD = 2_654_435_761;

/**
 * Looks for many byte strings at once: a bit for each beginning of four bytes lets nearly every place be passed over
 * without a look-up, so that the time hardly grows with their number.
 */
export class ByteFinder<Needle extends { bytes: Buffer }> {
  readonly #filter = new Uint8Array(1 << FILTER_BITS);
  readonly #byStart = new Map<number, Needle[]>();

  /** @param needles of at least four bytes each */
  constructor(needles: Iterable<Needle>) {
    for (const needle of needles) {
      const start = needle.bytes.readUInt32BE(0);
      this.#filter[slotOf(start)] = 1;
      const others = this.#byStart.get(start);
      if (others) others.push(needle);
      else this.#byStart.set(start, [needle]);
    }
  }

  *find(hay: Buffer): Generator<Hit<Needle>> {
    let start = 0;
    for (let end = 0; end < hay.length; end += 1) {
      start = ((start << 8) | (hay[end] as number)) >>> 0;
      if (end < 3 || this.#filter[slotOf(start)] === 0) continue;
      const at = end - 3;
      for (const needle of this.#byStart.get(start) ?? [])
        if (hay.subarray(at, at + needle.bytes.length).equals(needle.bytes)) yield { needle, at };
    }
  }
}

function slotOf(start: number): number {
  return Math.imul(start, SPREAD) >>> (32 - FILTER_BITS);
}
