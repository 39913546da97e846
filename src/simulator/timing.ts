import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../shared/clock.ts';

/** The platform's paces and limits in time; all in milliseconds. Tests shrink them. */
export interface Timing {
  /** Pause between two polls of a growing answer. The platform does not document it; about a second is seen. */
  pollEveryMs: number;
  /** How long the bot may take to answer a callback before the connection is dropped. */
  answerTimeoutMs: number;
  /** From the start of one delivery to the start of its repetition. */
  retryAfterMs: number;
  /** How long an answer may grow, counted from the person's message. */
  streamLifeMs: number;
  responseUrlLifeMs: number;
  mediaLifeMs: number;
  /** Life of a web sign-in code. */
  codeLifeMs: number;
  accessTokenLifeMs: number;
  /** The bot has a second to answer the verification of its address. */
  verifyTimeoutMs: number;
  /** Pause between two verifications while the bot is away, and while it is there. */
  watchAwayMs: number;
  watchThereMs: number;
  /** An in-app browser frame without a request for this long is closed. */
  frameIdleMs: number;
  /** Pause between two signs of life on a page's event stream; the page takes three without one for a lost connection. */
  beatMs: number;
}

export const WECOM_TIMING: Readonly<Timing> = {
  pollEveryMs: SECOND_MS,
  answerTimeoutMs: 5 * SECOND_MS,
  retryAfterMs: 5 * SECOND_MS,
  streamLifeMs: 6 * MINUTE_MS,
  responseUrlLifeMs: HOUR_MS,
  mediaLifeMs: 5 * MINUTE_MS,
  codeLifeMs: 5 * MINUTE_MS,
  accessTokenLifeMs: 2 * HOUR_MS,
  verifyTimeoutMs: SECOND_MS,
  watchAwayMs: SECOND_MS / 2,
  watchThereMs: 5 * SECOND_MS,
  frameIdleMs: 30 * MINUTE_MS,
  beatMs: 3 * SECOND_MS,
};
