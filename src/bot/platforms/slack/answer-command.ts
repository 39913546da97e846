import { SECOND_MS } from '../../../shared/clock.ts';
import { outsideCall } from '../../../shared/fail-point.ts';
import { requestBounded, type BoundedResponse } from '../bounded-request.ts';
import { FENCE_VALID_MS, type PushResult } from '../platform.ts';
import { type ReplySnapshot } from '../../domain/reply.ts';
import { PlatformError } from '../platform-error.ts';
import { formatHandle, readHandle, type ReplyTarget } from './reply-target.ts';
import { blocksOf } from './write-snapshot.ts';

/** Replaces the `ts` in the handle of an ephemeral message, which is not a message of the channel and cannot be edited. */
const SEEN_BY_ONE = 'response';
/** An ephemeral answer is sent only when complete; growing snapshots are not shown. */
const NOT_BEFORE_THE_END: PushResult = { result: 'busy', retryAfterMs: 60 * SECOND_MS };
/** Slack's errors for a post to a channel of which the app is not a member. */
const NOT_THERE = new Set(['not_in_channel', 'channel_not_found', 'is_archived']);

/** Whether a command may be answered at this address: the configured Slack origin, or its `hooks` host. */
export function isResponseAddress(address: string, apiUrl: string): boolean {
  if (!URL.canParse(address)) return false;
  const { origin, protocol, port, hostname } = new URL(address);
  const api = new URL(apiUrl);
  return origin === api.origin || (protocol === 'https:' && port === '' && hostname === `hooks.${api.hostname}`);
}

/** Whether Slack refused a post because the app is not a member of the channel in which the command was typed. */
export function isNotInChannel(error: string): boolean {
  return NOT_THERE.has(error);
}

/** Whether a handle belongs to an ephemeral answer, which only the asker saw and which cannot be changed. */
export function isEphemeral(handle: string): boolean {
  return readHandle(handle).ts === SEEN_BY_ONE;
}

/**
 * Answers a slash command so that only its sender sees the answer, using the command's `response_url`
 * (PLATFORM_FACTS.md slack-assistant: valid for five uses within half an hour, without a token).
 * @returns undefined if that address is used up or has expired; the answer must then be posted in the channel
 */
export async function answerCommand(
  { channel, response }: ReplyTarget,
  snapshot: ReplySnapshot,
): Promise<PushResult | undefined> {
  if (!response) return undefined;
  if (!snapshot.finished) return NOT_BEFORE_THE_END;
  const json = { response_type: 'ephemeral', replace_original: false, ...blocksOf(snapshot) };
  try {
    const request = { method: 'POST', json, leavesWithinMs: FENCE_VALID_MS } as const;
    const answer = await outsideCall('slack.response', () => requestBounded(new URL(response.url), request));
    return judge(answer, channel);
  } catch (error) {
    // The answer may have arrived. It cannot be looked up, and a duplicate is better than no answer.
    if (error instanceof PlatformError) return { result: 'busy', retryAfterMs: SECOND_MS };
    throw error;
  }
}

function judge({ status }: BoundedResponse, channel: string): PushResult | undefined {
  if (status >= 200 && status < 300) return { result: 'sent', handle: formatHandle({ channel, ts: SEEN_BY_ONE }) };
  return status === 429 || status >= 500 ? { result: 'busy', retryAfterMs: SECOND_MS } : undefined;
}
