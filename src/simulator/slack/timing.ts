import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';

/**
 * Slack's time limits, in milliseconds (PLATFORM_FACTS.md slack-deliveries, slack-web-api, slack-assistant). Tests shorten
 * them.
 */
export interface SlackTiming {
  /** Time limit for the bot to acknowledge an event. */
  ackTimeoutMs: number;
  /** Pauses before the retries of an unacknowledged event. */
  retryPausesMs: readonly number[];
  /** Maximum lifetime of a native stream from its start; appends do not extend it. */
  streamLifeMs: number;
  /** How long a status line stays unless it is removed. */
  statusLifeMs: number;
  /** Lifetime of a socket until Slack requests another one. */
  socketLifeMs: number;
  /** From the warning until a socket is closed. */
  socketWarningMs: number;
  /** Slack does not know when an edited message is finished. It counts as finished this long after its last edit. */
  editQuietMs: number;
}

export const SLACK_TIMING: Readonly<SlackTiming> = {
  ackTimeoutMs: 3 * SECOND_MS,
  retryPausesMs: [0, MINUTE_MS, 5 * MINUTE_MS],
  streamLifeMs: 306 * SECOND_MS,
  statusLifeMs: 2 * MINUTE_MS,
  socketLifeMs: HOUR_MS,
  socketWarningMs: 10 * SECOND_MS,
  editQuietMs: 2 * SECOND_MS,
};
