import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';

/** Slack's limits in time, all in milliseconds (PLATFORM_FACTS.md slack-deliveries, slack-web-api, slack-assistant). Tests shrink them. */
export interface SlackTiming {
  /** How long the bot may take to acknowledge an event. */
  ackTimeoutMs: number;
  /** Pauses before the repetitions of an event that was not acknowledged. */
  retryPausesMs: readonly number[];
  /** How long a native stream may grow, counted from its start; appends do not extend it. */
  streamLifeMs: number;
  /** How long a status line stays that nothing takes away. */
  statusLifeMs: number;
  /** How long a socket lives before Slack asks for another one. */
  socketLifeMs: number;
  /** From the warning to the end of a socket. */
  socketWarningMs: number;
  /** Slack does not know when an edited message is finished. This long after its last edit it counts as such. */
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
