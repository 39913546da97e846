import { expect, test } from '@jest/globals';
import type { AskOptions } from './pushed-fixture.ts';
import { until, usePushedFixture } from './pushed-fixture.ts';

const fixture = usePushedFixture();
const WHOLE = 'One, two, three, and this is the whole answer.';
const STEPS = ['One', 'One, two', 'One, two, three'];

/** Codes that the platform documents for its writes, and three that it does not. */
const CODES = [
  'streaming_state_conflict',
  'message_not_in_streaming_state',
  'message_not_found',
  'cant_update_message',
  'edit_window_closed',
  'invalid_arguments',
  'invalid_blocks',
  'msg_too_long',
  'restricted_action',
  'method_not_supported_for_channel_type',
  'a_code_of_tomorrow',
  'UPPER CASE, with blanks',
  '42',
];

interface Refusals {
  /** The first write that is refused, from 0, of those that `methods` names. */
  from: number;
  times: number;
  error: string;
  /** Writes that are counted; all that post or change a message when absent. */
  methods?: RegExp;
}

const WRITES = /^chat\.(?:postMessage|update|startStream|appendStream|stopStream)$/;

/** Refuses some of the writes of a whole answer, and lets a worker show it. */
async function answerWith(
  mode: 'stream' | 'edit',
  { from, times, error, methods = WRITES }: Refusals,
  options: AskOptions = {},
): Promise<string[]> {
  let count = -1;
  fixture.slack.meet((method) => {
    if (!methods.test(method)) return undefined;
    count += 1;
    return count >= from && count < from + times ? { kind: 'error', error } : undefined;
  });
  const { take } = await fixture.ask(mode, options);
  const { live, commit } = await take();
  for (const text of STEPS) {
    const { length } = fixture.slack.calls;
    live.show({ text });
    await until(() => fixture.slack.calls.length > length);
  }
  const records = await live.finish(WHOLE);
  await commit(records);
  return records.flatMap(({ fields }) => fields);
}

function expectOneWhole(): void {
  const { messages } = fixture.slack;
  expect(messages.filter(({ isStreaming }) => isStreaming)).toEqual([]);
  expect(messages.map(({ text }) => text)).toEqual([WHOLE]);
}

const POSITIONS = [0, 1, 2, 3];

test.each(
  (['stream', 'edit'] as const).flatMap((mode) =>
    CODES.flatMap((error) => [1, 3].flatMap((times) => POSITIONS.map((from) => ({ mode, error, times, from })))),
  ),
)(
  '$mode: an answer of which write $from is refused $times time(s) with $error stands whole and once [refused-writes]',
  async ({ mode, ...refusals }) => {
    await answerWith(mode, refusals);
    expectOneWhole();
  },
  15_000,
);
