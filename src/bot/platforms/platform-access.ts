/** Whether a call that was taken shows that another call's refusal, by its code, is over as well. */
type EndsRefusal = (taken: string, code: string) => boolean;

/**
 * Whether a platform takes our calls, as its last answers showed. What it refuses until the operator mends the app is told, each
 * time; who is told decides how often that is said.
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

  refused(call: string, code: string): void {
    this.#faults.set(call, code);
    this.#onRefused(code);
  }

  taken(call: string): void {
    if (this.#faults.size === 0) return;
    this.#faults.delete(call);
    for (const [other, code] of this.#faults) if (this.#endsRefusal(call, code)) this.#faults.delete(other);
  }

  /** The platform's own code for why it takes no calls now; undefined while it takes them. */
  get fault(): string | undefined {
    const [code] = this.#faults.values();
    return code;
  }
}
