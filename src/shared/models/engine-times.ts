import { MINUTE_MS } from '../clock.ts';

/** Engine timeouts, shared by the bot and the service. Defaults of `firstByteSec` and `idleSec` in MODELS_FILE. */
export const ENGINE_TIMES = {
  /** For the response headers: a large model may have to load first. */
  firstByteMs: 2 * MINUTE_MS,
  /** Between two chunks of an answer. */
  idleMs: MINUTE_MS,
} as const;
