import type { Term } from '../../../shared/text/search-terms.ts';

const FIRST_SLOTS = 4_096;
const NONE = -1;

/** Maps terms to slots with the first and last posting of each. Open addressing in typed arrays. */
export class TermTable {
  #keys = new Float64Array(FIRST_SLOTS).fill(NONE);
  #firsts = new Int32Array(FIRST_SLOTS);
  #lasts = new Int32Array(FIRST_SLOTS);
  #used = 0;

  get size(): number {
    return this.#used;
  }

  /** The latest posting of a term. @returns -1 if it has none */
  lastOf(term: Term): number {
    const slot = this.#slotOf(term);
    return this.#keys[slot] === term ? (this.#lasts[slot] as number) : NONE;
  }

  /** @returns -1 if it has none */
  firstOf(term: Term): number {
    const slot = this.#slotOf(term);
    return this.#keys[slot] === term ? (this.#firsts[slot] as number) : NONE;
  }

  setLast(term: Term, posting: number): void {
    if (this.#used * 2 >= this.#keys.length) this.#grow();
    const slot = this.#slotOf(term);
    if (this.#keys[slot] !== term) {
      this.#keys[slot] = term;
      this.#firsts[slot] = posting;
      this.#used += 1;
    }
    this.#lasts[slot] = posting;
  }

  /** All terms, ascending. */
  sorted(): Float64Array {
    return this.#keys.filter((key) => key !== NONE).sort();
  }

  #slotOf(term: Term): number {
    const mask = this.#keys.length - 1;
    const mixed = Math.imul((term % 4_294_967_296) ^ Math.floor(term / 4_294_967_296), 0x9e3779b1);
    let slot = (mixed ^ (mixed >>> 15)) & mask;
    while (this.#keys[slot] !== NONE && this.#keys[slot] !== term) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const [keys, firsts, lasts] = [this.#keys, this.#firsts, this.#lasts];
    this.#keys = new Float64Array(keys.length * 2).fill(NONE);
    this.#firsts = new Int32Array(keys.length * 2);
    this.#lasts = new Int32Array(keys.length * 2);
    for (let at = 0; at < keys.length; at += 1) {
      const key = keys[at] as number;
      if (key === NONE) continue;
      const slot = this.#slotOf(key);
      this.#keys[slot] = key;
      this.#firsts[slot] = firsts[at] as number;
      this.#lasts[slot] = lasts[at] as number;
    }
  }
}
