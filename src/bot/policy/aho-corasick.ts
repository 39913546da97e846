const UNITS = 0x10000;
/** Characters that are inserted before the event loop gets a turn; a slice takes a few milliseconds. */
const SLICE_CHARS = 10_000;

const NONE: readonly number[] = [];

/** Finds all words of a list in one pass over a text (Aho-Corasick). Units are UTF-16. */
export class AhoCorasick {
  /** Children of the root by unit, or 0: most characters of a text are read there. */
  readonly #first = new Int32Array(UNITS);
  /** Other nodes by parent and unit, in one map: hundreds of thousands of small maps would take ten times the memory. */
  readonly #children = new Map<number, number>();
  /** By node: the node of its longest proper suffix. */
  readonly #suffixes: number[] = [0];
  /** By node: the length of the word that ends there, or 0. */
  readonly #lengths: number[] = [0];
  /** By node: the nearest suffix where a word ends, or 0. */
  readonly #shorter: number[] = [0];

  /** Builds the machine in slices. @returns a generator that yields between two of them */
  static *build(words: Iterable<string>): Generator<void, AhoCorasick> {
    const machine = new AhoCorasick();
    const levels: { node: number; parent: number; unit: number }[][] = [];
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
    for (let node = from; ; node = this.#suffixes[node] ?? 0) {
      const child = this.#childOf(node, unit);
      if (child !== 0 || node === 0) return child;
    }
  }

  /** @returns the lengths of all words that end at the node, longest first */
  wordsAt(node: number): readonly number[] {
    let lengths: number[] | undefined;
    const first = this.#lengths[node] === 0 ? this.#shorter[node] : node;
    for (let word = first ?? 0; word !== 0; word = this.#shorter[word] ?? 0)
      (lengths ??= []).push(this.#lengths[word] ?? 0);
    return lengths ?? NONE;
  }

  /** @returns 0 without such a child */
  #childOf(node: number, unit: number): number {
    return (node === 0 ? this.#first[unit] : this.#children.get(node * UNITS + unit)) ?? 0;
  }

  #insert(word: string, levels: { node: number; parent: number; unit: number }[][]): void {
    let node = 0;
    for (let at = 0; at < word.length; at += 1) {
      const unit = word.charCodeAt(at);
      let child = this.#childOf(node, unit);
      if (child === 0) {
        child = this.#lengths.push(0) - 1;
        if (node === 0) this.#first[unit] = child;
        else this.#children.set(node * UNITS + unit, child);
        (levels[at] ??= []).push({ node: child, parent: node, unit });
      }
      node = child;
    }
    this.#lengths[node] = word.length;
  }

  /** Called for shorter prefixes first. */
  #link({ node, parent, unit }: { node: number; parent: number; unit: number }): void {
    const suffix = parent === 0 ? 0 : this.follow(this.#suffixes[parent] ?? 0, unit);
    this.#suffixes[node] = suffix;
    this.#shorter[node] = (this.#lengths[suffix] === 0 ? this.#shorter[suffix] : suffix) ?? 0;
  }
}
