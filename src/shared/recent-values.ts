/** Values that were used recently. Keeps at least `size` of them and at most twice as many. */
export class RecentValues<Value> {
  readonly #size: number;
  #newer = new Map<string, Value>();
  #older = new Map<string, Value>();

  constructor(size: number) {
    this.#size = size;
  }

  get(key: string): Value | undefined {
    const newer = this.#newer.get(key);
    if (newer !== undefined) return newer;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: string, value: Value): void {
    // To delete the oldest one each time would cost more: a Map searches for its first key.
    if (this.#newer.size >= this.#size) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }
}
