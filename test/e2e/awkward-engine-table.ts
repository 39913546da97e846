import { chunk, sse } from '../bot/model/scripted-chat-server.ts';

/** The way in which an engine streams tool calls. Each round is one answer of the chat service. */
export interface AwkwardEngine {
  name: string;
  /** The chunks of each round, written one by one. */
  rounds: string[][];
  /** The final answer in each language. */
  en: string;
  zh: string;
  /** Number of tool runs. */
  runs: number;
}

const NAME = 'current_time';
const UTC = '{"timeZone":"UTC"}';
const SHANGHAI = '{"timeZone":"Asia/Shanghai"}';
const DONE = sse('[DONE]');

/** Part of a tool call in a chunk. */
const piece = (args: unknown, more: { index?: number; id?: string | null; name?: string | null } = {}) => {
  const { name, ...rest } = more;
  return { ...rest, type: 'function', function: { ...(name === undefined ? {} : { name }), arguments: args } };
};
const calls = (pieces: object[], reason?: string) => chunk({ tool_calls: pieces }, reason);
const says = (text: string, reason = 'stop') => [chunk({ content: text }, reason), DONE];
const LATE = 'It is late. 很晚了。';
const answered = { en: LATE, zh: LATE };
/** One round that calls a tool, and one that answers. */
const oneCall = (name: string, pieces: string[], runs = 1): AwkwardEngine => ({
  name,
  rounds: [[...pieces, DONE], says(LATE)],
  ...answered,
  runs,
});

export const AWKWARD_ENGINES: readonly AwkwardEngine[] = [
  oneCall('arguments split anywhere', [
    calls([piece('', { index: 0, id: 'a', name: NAME })]),
    ...[...UTC].map((letter) => calls([piece(letter, { index: 0 })])),
    chunk({}, 'tool_calls'),
  ]),
  oneCall(
    'several indexes, interleaved',
    [
      calls([piece('{"time', { index: 0, id: 'a', name: NAME }), piece('', { index: 1, id: 'b', name: NAME })]),
      calls([piece('{"timeZone"', { index: 1 })]),
      calls([piece('Zone":"UTC"}', { index: 0 }), piece(':"Asia/Shanghai"}', { index: 1 })]),
      chunk({}, 'tool_calls'),
    ],
    2,
  ),
  oneCall(
    'empty ids',
    [
      calls([piece(UTC, { index: 0, id: '', name: NAME }), piece(SHANGHAI, { index: 1, id: '', name: NAME })]),
      chunk({}, 'tool_calls'),
    ],
    2,
  ),
  oneCall('no index, no id', [calls([piece(UTC, { name: NAME })]), chunk({}, 'tool_calls')]),
  oneCall(
    'the same index for every call',
    [
      calls([piece(UTC, { index: 0, id: 'a', name: NAME })]),
      calls([piece(SHANGHAI, { index: 0, id: 'b', name: NAME })]),
      chunk({}, 'tool_calls'),
    ],
    2,
  ),
  oneCall('arguments as an object', [
    calls([piece({ timeZone: 'UTC' }, { index: 0, id: 'a', name: NAME })]),
    chunk({}, 'tool_calls'),
  ]),
  oneCall('arguments as JSON within JSON', [
    calls([piece(JSON.stringify(UTC), { index: 0, id: 'a', name: NAME })], 'tool_calls'),
  ]),
  oneCall('arguments null', [calls([piece(null, { index: 0, id: 'a', name: NAME })], 'tool_calls')]),
  oneCall('null names and ids in later pieces', [
    calls([piece('{"timeZone":', { index: 0, id: 'a', name: NAME })]),
    calls([piece('"UTC"}', { index: 0, id: null, name: null })]),
    chunk({}, 'tool_calls'),
  ]),
  oneCall('calls that end with stop', [calls([piece(UTC, { index: 0, id: 'a', name: NAME })]), chunk({}, 'stop')]),
  oneCall('calls that end with an unknown reason', [
    calls([piece(UTC, { index: 0, id: 'a', name: NAME })]),
    chunk({}, 'ran_out_of_words'),
  ]),
  oneCall('reasoning before and between', [
    chunk({ reasoning_content: 'Let me think, 让我想想' }),
    calls([piece('{"timeZone":', { index: 0, id: 'a', name: NAME })]),
    chunk({ reasoning_content: 'still' }),
    calls([piece('"UTC"}', { index: 0 })]),
    chunk({ reasoning_content: 'so' }, 'tool_calls'),
  ]),
  {
    name: 'content next to the calls',
    rounds: [
      [
        chunk({ content: 'One mo', tool_calls: [piece(UTC, { index: 0, id: 'a', name: NAME })] }),
        chunk({ content: 'ment.' }, 'tool_calls'),
        DONE,
      ],
      says(LATE),
    ],
    en: `One moment.\n\n${LATE}`,
    zh: `One moment.\n\n${LATE}`,
    runs: 1,
  },
  {
    name: 'the same call id in each round',
    rounds: [
      [calls([piece(UTC, { index: 0, id: 'call_0', name: NAME })], 'tool_calls'), DONE],
      [calls([piece(SHANGHAI, { index: 0, id: 'call_0', name: NAME })], 'tool_calls'), DONE],
      says(LATE),
    ],
    ...answered,
    runs: 2,
  },
  {
    name: 'a call cut off by the length limit',
    rounds: [[calls([piece('{"timeZo', { index: 0, id: 'a', name: NAME })], 'length'), DONE], says(LATE)],
    ...answered,
    // The arguments are not valid JSON: the model gets an error, and no tool runs.
    runs: 0,
  },
  {
    name: 'a call of an unknown tool',
    rounds: [[calls([piece('{}', { index: 0, id: 'a', name: 'python' })], 'tool_calls'), DONE], says(LATE)],
    ...answered,
    runs: 0,
  },
  {
    name: 'an answer that reaches the length limit after a tool',
    rounds: [[calls([piece(UTC, { index: 0, id: 'a', name: NAME })], 'tool_calls'), DONE], says('It is', 'length')],
    en: 'It is\n\n(maximum answer length reached)',
    zh: 'It is\n\n（已达到回答长度上限）',
    runs: 1,
  },
  {
    name: 'an answer with an unknown finish reason and no end mark',
    rounds: [[calls([piece(UTC, { index: 0, id: 'a', name: NAME })], 'tool_calls')], [chunk({ content: LATE }, 'eos')]],
    ...answered,
    runs: 1,
  },
];
