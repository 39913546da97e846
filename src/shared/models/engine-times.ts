import { MINUTE_MS } from '../clock.ts';

/** Waits for an engine, for the bot and the service alike. Defaults of `firstByteSec` and `idleSec` in MODELS_FILE. */
export const ENGINE_TIMES = {
  /** For the headers of an answer: a large model may load first. */
  firstByteMs: 2 * MINUTE_MS,
  /** Between two pieces of an answer. */
  idleMs: MINUTE_MS,
} as const;
