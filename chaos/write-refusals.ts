import { REMOVED_EVENT } from '../src/bot/platforms/slack/post-answer.ts';
import type { FakeSlack, SlackFault } from '../test/support/fake-slack.ts';
import type { SeededRandom } from '../test/support/seeded-random.ts';

/** While enabled, platforms refuse one in three writes, never two in a row in one conversation, with varying codes. */
export interface WriteRefusals {
  /** Number of refused writes. */
  readonly count: number;
  refuseWrites(isRefusing: boolean): void;
  /** @returns Slack's response to this call instead of executing it */
  ofSlack(call: { method: string; args: Record<string, unknown> }): SlackFault | undefined;
  /** @returns WeCom's errcode for a write to this conversation; 0 executes it */
  ofWecom(conversation: string): number;
}

type Codes<T> = readonly [T, ...T[]];

/** Codes of all meanings that leave the conversation open, and undocumented codes. */
const ANY_WRITE: Codes<string> = [
  'invalid_arguments',
  'msg_too_long',
  'internal_error',
  'ratelimited',
  'a_code_of_tomorrow',
  'e2031',
];
const SLACK_CODES: Readonly<Record<string, Codes<string>>> = {
  'chat.startStream': [...ANY_WRITE, 'method_not_supported_for_channel_type', 'missing_recipient_team_id'],
  'chat.appendStream': [
    ...ANY_WRITE,
    'message_not_in_streaming_state',
    'streaming_state_conflict',
    'message_not_found',
  ],
  'chat.stopStream': [...ANY_WRITE, 'message_not_in_streaming_state', 'message_not_found'],
  'chat.update': [...ANY_WRITE, 'cant_update_message', 'edit_window_closed', 'message_not_found'],
  'chat.postMessage': [...ANY_WRITE, 'invalid_blocks', 'restricted_action'],
  'chat.delete': ['internal_error', 'ratelimited', 'a_code_of_tomorrow'],
};
/** Busy, an uncertain result with an unknown code, a rejected snapshot, and undocumented codes. */
const WECOM_CODES: Codes<number> = [-1, 45_033, 40_058, 45_002, 999_999, 2_031];
const ONE_IN = 3;

/** @param slack whose messages are changed to match the returned code */
export function createWriteRefusals(
  random: SeededRandom,
  slack: Pick<FakeSlack, 'messages' | 'removed'>,
): WriteRefusals {
  let isRefusing = false;
  let count = 0;
  const refusedLast = new Set<string>();
  const draw = (place: string) => {
    if (!isRefusing || refusedLast.delete(place) || !random.oneIn(ONE_IN)) return false;
    refusedLast.add(place);
    count += 1;
    return true;
  };
  return {
    get count() {
      return count;
    },
    refuseWrites: (shall) => (isRefusing = shall),
    ofSlack({ method, args }) {
      const codes = SLACK_CODES[method];
      if (!codes || !draw(`slack ${String(args['channel'])}`)) return undefined;
      const error = random.pick(codes);
      const isTrue = makeTrue(slack, error, args);
      return !isTrue || random.oneIn(10) ? { kind: 'status', status: 503 } : { kind: 'error', error };
    },
    ofWecom: (conversation) => (draw(`wecom ${conversation}`) ? random.pick(WECOM_CODES) : 0),
  };
}

/**
 * Slack reports a message as deleted, or its stream as ended, only if that is true. A complete answer is not deleted: people
 * have it, and nothing should bring it back.
 * @returns whether the error is true now
 */
function makeTrue(
  { messages, removed }: Pick<FakeSlack, 'messages' | 'removed'>,
  error: string,
  args: object,
): boolean {
  const { channel, ts, metadata } = args as { channel?: string; ts?: string; metadata?: { event_type: string } };
  const message = messages.find((one) => one.channel === channel && one.ts === ts);
  if (!message) return true;
  // Slack does not end a stream by itself at the moment in which a worker removes it: its owner could not be determined.
  if (error === 'message_not_in_streaming_state' && metadata?.event_type === REMOVED_EVENT) return false;
  if (error === 'message_not_in_streaming_state') message.isStreaming = false;
  if (error !== 'message_not_found') return true;
  if (message.metadata?.event_payload && 'last' in message.metadata.event_payload) return false;
  removed.push(...messages.splice(messages.indexOf(message), 1));
  return true;
}
