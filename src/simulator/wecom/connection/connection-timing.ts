import { MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts';

/** The long connection's paces, all in milliseconds (PLATFORM_FACTS.md wecom-connection). Tests shrink them. */
export interface ConnectionTiming {
  /** From a frame to its acknowledgement. */
  ackDelayMs: number;
  /** A connection that says nothing for so long is dropped. */
  silenceMs: number;
  /** From the word that another connection has taken its place to the end of the old one. */
  kickedCloseMs: number;
  /** How long an event may be answered. */
  eventAnswerMs: number;
  /** How long a stream may grow, counted from its first frame. */
  streamWindowMs: number;
  /** After a stream's window: how long the whole answer may still come another way before the app says that none came. */
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
