/** So many places are given back at once, not one by one. */
const LEAST_GIVEN_BACK = 1_024;

/**
 * First in, first out, at a price that does not grow with what is in it. A `Map` keeps the order too, but the way to its
 * oldest entry leads over all that were taken out before it: 45 µs with some 20,000 entries, where this takes 1.
 */
export class Fifo<Entry> implements Iterable<Entry> {
  #entries: (Entry | undefined)[] = [];
  /** Where the oldest stands. */
  #head = 0;

  get size(): number {
    return this.#entries.length - this.#head;
  }

  /** The one that has been in it for longest. */
  get oldest(): Entry | undefined {
    return this.#entries[this.#head];
  }

  push(entry: Entry): void {
    this.#entries.push(entry);
  }

  /** Takes the oldest out. */
  shift(): Entry | undefined {
    const entry = this.oldest;
    if (this.size === 0) return undefined;
    this.#entries[this.#head] = undefined;
    this.#head += 1;
    if (this.#head >= LEAST_GIVEN_BACK && this.#head * 2 >= this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    return entry;
  }

  /** The oldest first. */
  *[Symbol.iterator](): Iterator<Entry> {
    for (let index = this.#head; index < this.#entries.length; index += 1) yield this.#entries[index] as Entry;
  }
}
