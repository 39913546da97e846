const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * Remembers values by key, each until a value of another key takes its place. A Map costs several times as much: it grows, and
 * its oldest entry must be found.
 */
export class RecentValues<Value> {
  readonly #keys: string[];
  readonly #values: (Value | undefined)[];
  readonly #mask: number;

  /** @param size a power of two */
  constructor(size: number) {
    this.#keys = new Array<string>(size).fill('');
    this.#values = new Array<Value | undefined>(size).fill(undefined);
    this.#mask = size - 1;
  }

  get(key: string): Value | undefined {
    const place = this.#placeOf(key);
    return this.#keys[place] === key ? this.#values[place] : undefined;
  }

  set(key: string, value: Value): void {
    const place = this.#placeOf(key);
    this.#keys[place] = key;
    this.#values[place] = value;
  }

  #placeOf(key: string): number {
    let hash = FNV_OFFSET;
    for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), FNV_PRIME);
    return (hash ^ (hash >>> 15)) & this.#mask;
  }
}
