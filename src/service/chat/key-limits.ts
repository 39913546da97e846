import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { ChatApiError } from './chat-api-error.ts';

export interface ChatLimits {
  /** Requests that one key may start within any 10 seconds. Default 200. */
  requestsPer10Sec: number;
  /** Requests of one key that may be answered at once. Default 20. */
  atOnce: number;
}

export const DEFAULT_CHAT_LIMITS: ChatLimits = { requestsPer10Sec: 200, atOnce: 20 };

const WINDOW_MS = 10 * SECOND_MS;

interface KeyUse {
  startedAtMs: number[];
  open: number;
}

/** Counts what each key does, in this process: at once, and where Redis is away alone (`shared-limits.ts` counts over all). Keys are held as given, for there are few and they are known. */
export class KeyLimits {
  readonly #limits: ChatLimits;
  readonly #nowMs: NowMs;
  readonly #uses = new Map<string, KeyUse>();

  constructor(limits: ChatLimits, nowMs: NowMs) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /**
   * Lets one request begin.
   * @returns what must be called once when it has ended; calling it again does nothing
   * @throws ChatApiError 429 with the seconds to wait
   */
  begin(key: string): () => void {
    const use = this.#uses.get(key) ?? { startedAtMs: [], open: 0 };
    this.#uses.set(key, use);
    const nowMs = this.#nowMs();
    while (use.startedAtMs[0] !== undefined && use.startedAtMs[0] <= nowMs - WINDOW_MS) use.startedAtMs.shift();
    if (use.open >= this.#limits.atOnce) throw tooManyAtOnce();
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

/** 429 for a key whose places are all taken. */
export function tooManyAtOnce(): ChatApiError {
  const message = 'Too many requests of this key are being answered at once';
  return new ChatApiError('rate_limit_exceeded', message, { retryAfterSec: 1 });
}

/** 429 for a key that has to wait. @param waitMs how long */
export function tooOften(waitMs: number): ChatApiError {
  const retryAfterSec = Math.max(1, Math.ceil(waitMs / SECOND_MS));
  return new ChatApiError('rate_limit_exceeded', 'This key has asked too often within 10 seconds', { retryAfterSec });
}
