import { SECOND_MS } from '../../../shared/clock.ts';
import { outsideCall } from '../../../shared/fail-point.ts';
import { requestBounded, type BoundedAnswer } from '../bounded-request.ts';
import { FENCE_HOLDS_MS, type PushResult } from '../platform.ts';
import { type ReplySnapshot } from '../../domain/reply.ts';
import { PlatformError } from '../platform-error.ts';
import { formatHandle, readHandle, type ReplyTarget } from './reply-target.ts';
import { blocksOf } from './write-snapshot.ts';

/** Stands in a handle in place of a `ts`: what only one person sees is no message of the channel, and cannot be edited. */
const SEEN_BY_ONE = 'response';
/** Such an answer comes whole; what grows of it is not shown. */
const NOT_BEFORE_THE_END: PushResult = { result: 'busy', retryAfterMs: 60 * SECOND_MS };
/** Slack's answers to a post where the app is no member: nobody there sees what it says. */
const NOT_THERE = new Set(['not_in_channel', 'channel_not_found', 'is_archived']);

/** Whether a command may be answered at an address: the configured Slack's own origin, or its host for that. */
export function isResponseAddress(address: string, apiUrl: string): boolean {
  if (!URL.canParse(address)) return false;
  const { origin, protocol, port, hostname } = new URL(address);
  const api = new URL(apiUrl);
  return origin === api.origin || (protocol === 'https:' && port === '' && hostname === `hooks.${api.hostname}`);
}

/** Whether Slack refused a post since the app is no member of the channel in which its command was typed. */
export function isNotThere(error: string): boolean {
  return NOT_THERE.has(error);
}

/** Whether a handle is that of an answer which only its asker saw, and which stays as it was shown. */
export function isSeenByOne(handle: string): boolean {
  return readHandle(handle).ts === SEEN_BY_ONE;
}

/**
 * Answers the app's own command so that only its sender sees it, by the address that came with it (PLATFORM_FACTS.md slack-assistant: five
 * times in half an hour, without a token).
 * @returns undefined where that address is used up or too old: then the channel itself is left
 */
export async function answerCommand(
  { channel, response }: ReplyTarget,
  snapshot: ReplySnapshot,
): Promise<PushResult | undefined> {
  if (!response) return undefined;
  if (!snapshot.finished) return NOT_BEFORE_THE_END;
  const json = { response_type: 'ephemeral', replace_original: false, ...blocksOf(snapshot) };
  try {
    const request = { method: 'POST', json, leavesWithinMs: FENCE_HOLDS_MS } as const;
    const answer = await outsideCall('slack.response', () => requestBounded(new URL(response.url), request));
    return judge(answer, channel);
  } catch (error) {
    // It may have arrived. To be told twice is better than to be told nothing, and cannot be looked up.
    if (error instanceof PlatformError) return { result: 'busy', retryAfterMs: SECOND_MS };
    throw error;
  }
}

function judge({ status }: BoundedAnswer, channel: string): PushResult | undefined {
  if (status >= 200 && status < 300) return { result: 'sent', handle: formatHandle({ channel, ts: SEEN_BY_ONE }) };
  return status === 429 || status >= 500 ? { result: 'busy', retryAfterMs: SECOND_MS } : undefined;
}
