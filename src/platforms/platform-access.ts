/** Refusals of the whole app: a call that is taken shows that they are over. Others concern one kind of call. */
const OF_ONE_CALL = new Set(['missing_scope', 'no_permission', 'access_denied', 'not_allowed_token_type']);

/**
 * Whether a platform takes our calls, as its last answers showed. What it refuses until the operator mends the app is told, each
 * time; who is told decides how often that is said.
 */
export class PlatformAccess {
  readonly #faults = new Map<string, string>();
  readonly #onRefused: (code: string) => void;

  /** @param onRefused called with the platform's own code, never with a token */
  constructor(onRefused: (code: string) => void = () => undefined) {
    this.#onRefused = onRefused;
  }

  refused(call: string, code: string): void {
    this.#faults.set(call, code);
    this.#onRefused(code);
  }

  taken(call: string): void {
    if (this.#faults.size === 0) return;
    this.#faults.delete(call);
    for (const [other, code] of this.#faults) if (!OF_ONE_CALL.has(code)) this.#faults.delete(other);
  }

  /** The platform's own code for why it takes no calls now; undefined while it takes them. */
  get fault(): string | undefined {
    const [code] = this.#faults.values();
    return code;
  }
}
