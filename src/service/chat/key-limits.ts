import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { ChatApiError } from './chat-api-error.ts';

export interface ChatLimits {
  /** Maximum requests that one key may start within any 10 seconds. Default 200. */
  requestsPer10Sec: number;
  /** Maximum concurrent requests of one key. Default 20. */
  maxConcurrent: number;
}

export const DEFAULT_CHAT_LIMITS: ChatLimits = { requestsPer10Sec: 200, maxConcurrent: 20 };

const WINDOW_MS = 10 * SECOND_MS;

interface KeyUse {
  startedAtMs: number[];
  open: number;
}

/**
 * Counts the requests of each key in this process, synchronously. If Redis is unavailable, these are the only limits
 * (`shared-limits.ts` counts across all processes). Keys are stored in plain form: they are few and known.
 */
export class KeyLimits {
  readonly #limits: ChatLimits;
  readonly #nowMs: NowMs;
  readonly #uses = new Map<string, KeyUse>();

  constructor(limits: ChatLimits, nowMs: NowMs) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /**
   * Starts one request.
   * @returns a function to call when the request has ended; further calls do nothing
   * @throws ChatApiError 429 with the seconds to wait
   */
  begin(key: string): () => void {
    const use = this.#uses.get(key) ?? { startedAtMs: [], open: 0 };
    this.#uses.set(key, use);
    const nowMs = this.#nowMs();
    while (use.startedAtMs[0] !== undefined && use.startedAtMs[0] <= nowMs - WINDOW_MS) use.startedAtMs.shift();
    if (use.open >= this.#limits.maxConcurrent) throw tooManyAtOnce();
    if (use.startedAtMs.length >= this.#limits.requestsPer10Sec) {
      const freeAtMs = (use.startedAtMs[0] ?? nowMs) + WINDOW_MS;
      throw tooOften(freeAtMs - nowMs);
    }
    use.startedAtMs.push(nowMs);
    use.open += 1;
    let isOpen = true;
    return () => {
      if (isOpen) use.open -= 1;
      isOpen = false;
    };
  }
}

/** 429 for a key that has reached its maximum of concurrent requests. */
export function tooManyAtOnce(): ChatApiError {
  const message = 'Too many concurrent requests with this key';
  return new ChatApiError('rate_limit_exceeded', message, { retryAfterSec: 1 });
}

/** 429 for a key that must wait. @param waitMs time to wait */
export function tooOften(waitMs: number): ChatApiError {
  const retryAfterSec = Math.max(1, Math.ceil(waitMs / SECOND_MS));
  return new ChatApiError('rate_limit_exceeded', 'Too many requests with this key within 10 seconds', {
    retryAfterSec,
  });
}
