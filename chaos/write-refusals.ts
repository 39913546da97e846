import type { FakeSlack, SlackFault } from '../test/support/fake-slack.ts';
import type { SeededRandom } from '../test/support/seeded-random.ts';

/** While it lasts, platforms refuse one in three writes, never two in a row in one conversation, each with a code of its own. */
export interface WriteRefusals {
  /** How many writes were refused. */
  readonly count: number;
  refuseWrites(isRefusing: boolean): void;
  /** @returns what Slack answers this call instead */
  ofSlack(call: { method: string; args: Record<string, unknown> }): SlackFault | undefined;
  /** @returns the errcode that WeCom answers a write of this conversation with; 0 carries it out */
  ofWecom(conversation: string): number;
}

type Codes<T> = readonly [T, ...T[]];

/** Codes of every meaning that leave the conversation open, and codes that no documentation has. */
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
/** Busy, unknown fate by an unknown code, a snapshot that is not taken, and codes that no documentation has. */
const WECOM_CODES: Codes<number> = [-1, 45_033, 40_058, 45_002, 999_999, 2_031];
const ONE_IN = 3;

/** @param slack whose messages are changed as a code says that they were */
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
      makeTrue(slack, error, args);
      return random.oneIn(10) ? { kind: 'status', status: 503 } : { kind: 'error', error };
    },
    ofWecom: (conversation) => (draw(`wecom ${conversation}`) ? random.pick(WECOM_CODES) : 0),
  };
}

/** Slack says of a message that it was deleted, or that its stream has ended, only where that is so. */
function makeTrue({ messages, removed }: Pick<FakeSlack, 'messages' | 'removed'>, error: string, args: object): void {
  const { channel, ts } = args as { channel?: string; ts?: string };
  const message = messages.find((one) => one.channel === channel && one.ts === ts);
  if (!message) return;
  if (error === 'message_not_in_streaming_state') message.isStreaming = false;
  if (error === 'message_not_found') removed.push(...messages.splice(messages.indexOf(message), 1));
}
