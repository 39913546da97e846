const UNITS = 0x10000;
/** Characters that are inserted before the event loop gets a turn; a slice takes a few milliseconds. */
const SLICE_CHARS = 10_000;
/** Odd numbers that spread nodes and units over the table. */
const NODE_FACTOR = 0x9e3779b1;
const UNIT_FACTOR = 0x85ebca6b;

const NONE: readonly number[] = [];

/** Finds all words of a list in one pass over a text (Aho-Corasick). Units are UTF-16. */
export class AhoCorasick {
  /** Children of the root by unit, or 0: most characters of a text are read there. */
  readonly #first = new Int32Array(UNITS);
  /** Children of all other nodes in one hash table by parent and unit; 0 is a free place. A Map takes three times as long to build. */
  readonly #children: Int32Array;
  readonly #mask: number;
  /** By node: the node before its last unit, and that unit. */
  readonly #parents: Int32Array;
  readonly #units: Uint16Array;
  /** By node: the node of its longest proper suffix. */
  readonly #suffixes: Int32Array;
  /** By node: the length of the word that ends there, or 0. */
  readonly #lengths: Int32Array;
  /** By node: itself or its nearest suffix where a word ends, or 0. */
  readonly #ends: Int32Array;
  #count = 1;

  /** @param chars of all words together */
  private constructor(chars: number) {
    const size = 2 ** Math.ceil(Math.log2(2 * chars + 1));
    this.#children = new Int32Array(size);
    this.#mask = size - 1;
    const byNode = () => new Int32Array(chars + 1);
    [this.#parents, this.#suffixes, this.#lengths, this.#ends] = [byNode(), byNode(), byNode(), byNode()];
    this.#units = new Uint16Array(chars + 1);
  }

  /** Builds the machine in slices. @returns a generator that yields between two of them */
  static *build(words: readonly string[]): Generator<void, AhoCorasick> {
    const machine = new AhoCorasick(words.reduce((sum, { length }) => sum + length, 0));
    const levels: number[][] = [];
    let chars = 0;
    for (const word of words) {
      machine.#insert(word, levels);
      if ((chars += word.length) > SLICE_CHARS) {
        chars = 0;
        yield;
      }
    }
    let linked = 0;
    for (const level of levels)
      for (const added of level) {
        machine.#link(added);
        if ((linked += 1) % SLICE_CHARS === 0) yield;
      }
    return machine;
  }

  /** @returns the node after one more unit of the text. Before a text it is 0. */
  follow(from: number, unit: number): number {
    for (let node = from; node !== 0; node = this.#suffixes[node] ?? 0) {
      const child = this.#childOf(node, unit);
      if (child !== 0) return child;
    }
    return this.#first[unit] ?? 0;
  }

  /** @returns the lengths of all words that end at the node, longest first */
  wordsAt(node: number): readonly number[] {
    let end = this.#ends[node] ?? 0;
    if (end === 0) return NONE;
    const lengths: number[] = [];
    for (; end !== 0; end = this.#ends[this.#suffixes[end] ?? 0] ?? 0) lengths.push(this.#lengths[end] ?? 0);
    return lengths;
  }

  /** @returns 0 without such a child */
  #childOf(node: number, unit: number): number {
    return (node === 0 ? this.#first[unit] : this.#children[this.#placeOf(node, unit)]) ?? 0;
  }

  /** Where the table contains the child of this node, or the free place for it. */
  #placeOf(node: number, unit: number): number {
    const hash = Math.imul(node, NODE_FACTOR) + Math.imul(unit, UNIT_FACTOR);
    for (let place = (hash ^ (hash >>> 15)) & this.#mask; ; place = (place + 1) & this.#mask) {
      const child = this.#children[place] ?? 0;
      if (child === 0 || (this.#parents[child] === node && this.#units[child] === unit)) return place;
    }
  }

  #insert(word: string, levels: number[][]): void {
    let node = 0;
    for (let at = 0; at < word.length; at += 1) {
      const unit = word.charCodeAt(at);
      let child = this.#childOf(node, unit);
      if (child === 0) {
        child = this.#count;
        this.#count += 1;
        this.#parents[child] = node;
        this.#units[child] = unit;
        if (node === 0) this.#first[unit] = child;
        else this.#children[this.#placeOf(node, unit)] = child;
        (levels[at] ??= []).push(child);
      }
      node = child;
    }
    this.#lengths[node] = word.length;
  }

  /** Called for shorter prefixes first. */
  #link(node: number): void {
    const parent = this.#parents[node] ?? 0;
    const suffix = parent === 0 ? 0 : this.follow(this.#suffixes[parent] ?? 0, this.#units[node] ?? 0);
    this.#suffixes[node] = suffix;
    this.#ends[node] = (this.#lengths[node] === 0 ? this.#ends[suffix] : node) ?? 0;
  }
}
