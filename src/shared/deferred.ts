/** A promise that is settled from outside, for objects that report a result once, later. */
export class Deferred<Value = void> {
  readonly promise: Promise<Value>;
  #resolve: ((value: Value) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Only the first call of either has an effect. */
  resolve(value: Value): void {
    this.#resolve?.(value);
  }

  reject(error: Error): void {
    this.#reject?.(error);
  }
}
