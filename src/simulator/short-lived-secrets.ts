import type { NowMs } from '../shared/clock.ts';
import { randomToken, sha256Hex } from '../shared/crypto/ids.ts';

/** Values that random secrets stand for, for a limited time. Kept in memory: after a restart people must start again. */
export class ShortLivedSecrets<Value> {
  readonly #nowMs: NowMs;
  readonly #lifeMs: number;
  /** Keyed by hash. */
  readonly #issued = new Map<string, { value: Value; untilMs: number }>();

  constructor(nowMs: NowMs, lifeMs: number) {
    this.#nowMs = nowMs;
    this.#lifeMs = lifeMs;
  }

  issue(value: Value): string {
    const nowMs = this.#nowMs();
    for (const [hash, { untilMs }] of this.#issued) if (untilMs < nowMs) this.#issued.delete(hash);
    const secret = randomToken();
    this.#issued.set(sha256Hex(secret), { value, untilMs: nowMs + this.#lifeMs });
    return secret;
  }

  find(secret: string): Value | undefined {
    const issued = this.#issued.get(sha256Hex(secret));
    return issued && this.#nowMs() <= issued.untilMs ? issued.value : undefined;
  }

  /** The value, once. */
  take(secret: string): Value | undefined {
    const value = this.find(secret);
    this.#issued.delete(sha256Hex(secret));
    return value;
  }
}
