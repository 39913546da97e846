import { MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts';

/** Intervals and limits of the long connection, in milliseconds (PLATFORM_FACTS.md wecom-connection). Tests shorten them. */
export interface ConnectionTiming {
  /** From a frame until its acknowledgement. */
  ackDelayMs: number;
  /** A connection that is silent for this long is dropped. */
  silenceMs: number;
  /** From the notification that a connection was replaced until it is closed. */
  kickedCloseMs: number;
  /** Time limit for answering an event. */
  eventAnswerMs: number;
  /** How long a stream may grow, counted from its first frame. */
  streamWindowMs: number;
  /**
   * How long after a stream's time limit the complete answer may still arrive in another way, before the app reports that
   * there is none.
   */
  lastWordMs: number;
}

export const CONNECTION_TIMING: Readonly<ConnectionTiming> = {
  ackDelayMs: 300,
  silenceMs: 90 * SECOND_MS,
  kickedCloseMs: 2 * SECOND_MS,
  eventAnswerMs: 5 * SECOND_MS,
  streamWindowMs: 6 * MINUTE_MS,
  lastWordMs: MINUTE_MS,
};
