import { MINUTE_MS, SECOND_MS, type NowMs } from '../../shared/clock.ts';

/** Calls per minute by Slack's tiers (PLATFORM_FACTS.md slack-web-api); a method that is not listed has tier 3. */
const PER_MINUTE: Readonly<Record<string, number>> = {
  'chat.startStream': 20,
  'chat.stopStream': 20,
  'chat.appendStream': 100,
  'chat.update': 50,
  'users.info': 100,
  'users.list': 20,
  'auth.test': 300,
  'assistant.threads.setStatus': 100,
};
const TIER_3 = 50;
/** chat.postMessage is limited per channel: about one per second, in short bursts. */
const POSTS_AT_ONCE = 5;

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Rate limits of the methods: one token bucket each. `factor` multiplies all limits. */
export class RateLimits {
  readonly #buckets = new Map<string, Bucket>();
  readonly #factor: number;
  readonly #nowMs: NowMs;

  constructor(factor: number, nowMs: NowMs) {
    this.#factor = factor;
    this.#nowMs = nowMs;
  }

  /** Counts a call. @returns undefined if it is allowed, otherwise the `Retry-After` in whole seconds */
  take(method: string, channel: string | undefined): number | undefined {
    const isPost = method === 'chat.postMessage';
    const perMinute = (isPost ? MINUTE_MS / SECOND_MS : (PER_MINUTE[method] ?? TIER_3)) * this.#factor;
    const capacity = isPost ? POSTS_AT_ONCE * this.#factor : perMinute;
    const key = isPost ? `${method} ${channel ?? ''}` : method;
    const atMs = this.#nowMs();
    const before = this.#buckets.get(key) ?? { tokens: capacity, atMs };
    const filled = before.tokens + ((atMs - before.atMs) / MINUTE_MS) * perMinute;
    const tokens = Math.min(capacity, filled);
    this.#buckets.set(key, { tokens: tokens >= 1 ? tokens - 1 : tokens, atMs });
    if (tokens >= 1) return undefined;
    return Math.max(1, Math.ceil((((1 - tokens) / perMinute) * MINUTE_MS) / SECOND_MS));
  }
}
