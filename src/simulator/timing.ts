import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../shared/clock.ts';

/** The platform's intervals and time limits, in milliseconds. Tests shorten them. */
export interface Timing {
  /** Pause between two polls of a growing answer. The platform does not document it; about one second has been observed. */
  pollEveryMs: number;
  /** Time limit for the bot to answer a callback before the connection is dropped. */
  answerTimeoutMs: number;
  /** From the start of one delivery to the start of its retry. */
  retryAfterMs: number;
  /** How long an answer may grow, counted from the person's message. */
  streamLifeMs: number;
  responseUrlLifeMs: number;
  mediaLifeMs: number;
  /** Lifetime of a web sign-in code. */
  codeLifeMs: number;
  accessTokenLifeMs: number;
  /** Time limit of one second for the bot to answer the verification of its address. */
  verifyTimeoutMs: number;
  /** Pause between two verifications while the bot is unreachable, and while it is reachable. */
  watchAwayMs: number;
  watchThereMs: number;
  /** An in-app browser frame without a request for this long is closed. */
  frameIdleMs: number;
  /**
   * Interval of heartbeats on a page's event stream; after three missing heartbeats the page considers the connection lost.
   */
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
