/** Whether a successful call shows that another call's refusal, given by its code, has ended as well. */
type EndsRefusal = (taken: string, code: string) => boolean;

/**
 * Tracks whether a platform takes our calls, by its latest answers. Reports every refusal that requires the operator's
 * repair; the callback decides how often to announce it.
 */
export class PlatformAccess {
  readonly #faults = new Map<string, string>();
  readonly #endsRefusal: EndsRefusal;
  readonly #onRefused: (code: string) => void;

  /** @param onRefused called with the platform's own code, never with a token */
  constructor(endsRefusal: EndsRefusal, onRefused: (code: string) => void = () => undefined) {
    this.#endsRefusal = endsRefusal;
    this.#onRefused = onRefused;
  }

  recordRefusal(call: string, code: string): void {
    this.#faults.set(call, code);
    this.#onRefused(code);
  }

  recordSuccess(call: string): void {
    if (this.#faults.size === 0) return;
    this.#faults.delete(call);
    for (const [other, code] of this.#faults) if (this.#endsRefusal(call, code)) this.#faults.delete(other);
  }

  /** The platform's current code for refusing all calls; undefined while it takes them. */
  get fault(): string | undefined {
    const [code] = this.#faults.values();
    return code;
  }
}
