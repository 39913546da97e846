import { chunk, sse } from '../bot/model/scripted-chat-server.ts';

/** The bytes of an engine's reply, and the text that a person may see. */
export interface ReplyDialect {
  name: string;
  /** The body of a streamed answer, part by part. */
  wire: readonly string[];
  contentType?: string;
  text: string;
  /** The thought that the bot reads, in rows about thoughts. */
  thought?: string;
  /** Tool calls, as `NAME ARGUMENTS`. */
  calls?: readonly string[];
  /** The end of the reply; complete by default. `failure`: the reply is empty, and the question is asked again. */
  ending?: 'cut' | 'failure';
}

const STOP = chunk({}, 'stop');
const DONE = sse('[DONE]');
const says = (...pieces: string[]) => [...pieces.map((content) => chunk({ content })), STOP, DONE];
const between = (noise: string): string[] => [
  chunk({ content: 'It is' }),
  noise,
  chunk({ content: ' 2.' }),
  STOP,
  noise,
  DONE,
];
const TWO = 'It is 2.';
const CALL = 'search_documents {"query":"fees"}';
const ARGS = '{"query":"fees"}';
const call = (more: object, args: unknown) =>
  chunk({ tool_calls: [{ ...more, function: { name: 'search_documents', arguments: args } }] });
const rest = (more: object, args: string) => chunk({ tool_calls: [{ ...more, function: { arguments: args } }] });
const END = chunk({}, 'tool_calls');
const completion = (message: object, more: object = {}) =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    ...more,
  });

const noise = [
  'data: null\n\n',
  'data: ping\n\n',
  'data:\n\n',
  ': comment\n\n',
  'data: 42\n\n',
  'data: []\n\n',
  'data: "x"\n\n',
  'event: ping\ndata: {}\n\n',
  'data: {"type":"ping"}\n\n',
];
const errors = [
  { object: 'error', message: 'x', type: 'InternalServerError', code: 500 },
  { error: { message: 'x', code: 'server_error' } },
  { error: 'x' },
  { code: 'InternalError.Algo', message: 'x', request_id: 'r' },
  { error_code: 336000, error_msg: 'x' },
  { choices: null, base_resp: { status_code: 1000, status_msg: 'x' } },
  { detail: 'x' },
];
const empty: [string, string, string?][] = [
  ['only the end mark', DONE],
  ['no body', ''],
  [
    'no choices',
    JSON.stringify({ choices: null, base_resp: { status_code: 1002, status_msg: 'rate limit' } }),
    'application/json',
  ],
  ['an empty list of choices', JSON.stringify({ choices: [] }), 'application/json'],
  ['an empty text', chunk({ content: '' }) + STOP + DONE],
  ['blanks', chunk({ content: ' \n' }) + STOP + DONE],
  ['a page', '<!doctype html><p>502</p>'],
  ['nothing but noise', noise.join('') + DONE],
];

/** One row for each way in which engines, and the proxies before them, write replies. */
export const REPLY_DIALECTS: readonly ReplyDialect[] = [
  ...noise.map((line) => ({ name: `noise: ${JSON.stringify(line)}`, wire: between(line), text: TWO })),
  { name: 'an end mark with blanks', wire: [chunk({ content: TWO }, 'stop'), 'data: [DONE]  \n\n'], text: TWO },
  ...errors.map((error) => ({
    name: `an error within the answer: ${JSON.stringify(error)}`,
    wire: [chunk({ content: 'It' }), chunk({ content: ' is' }), sse(error), DONE],
    text: 'It is',
    ending: 'cut' as const,
  })),
  {
    name: 'an error behind the finish reason',
    wire: [chunk({ content: TWO }, 'stop'), sse({ error: { message: 'x' } })],
    text: TWO,
  },
  ...empty.map(([name, body, contentType]) => ({
    name: `an empty success: ${name}`,
    wire: [body],
    contentType,
    text: '',
    ending: 'failure' as const,
  })),
  ...(
    [
      ['no blank lines', (event) => event.replace('\n\n', '\n')],
      ['carriage returns', (event) => event.replaceAll('\n', '\r')],
      ['data on several lines', (event) => event.replace('"choices":', '\ndata: "choices":')],
    ] as [string, (event: string) => string][]
  ).map(([name, write]) => ({ name: `events with ${name}`, wire: says('It is', ' 2.').map(write), text: TWO })),
  { name: 'a last event without its line end', wire: [chunk({ content: TWO }), STOP.trimEnd()], text: TWO },
  { name: 'an end mark without its line end', wire: [chunk({ content: TWO }), 'data: [DONE]'], text: TWO },
  {
    name: 'an error in a field of its own',
    wire: [chunk({ content: 'It' }), chunk({ content: ' is' }), 'error: {"message":"x"}\n\n', DONE],
    text: 'It is',
    ending: 'cut',
  },
  {
    name: 'an error without values in each chunk',
    wire: [
      sse({ error: { message: '', code: null }, choices: [{ delta: { content: TWO } }] }),
      sse({ error: {}, choices: [{ delta: {}, finish_reason: 'stop' }] }),
    ],
    text: TWO,
  },
  {
    name: 'an object that is cut',
    wire: [completion({ content: TWO }).slice(0, -20)],
    contentType: 'application/json',
    text: '',
    ending: 'failure',
  },
  {
    name: 'an object without a finish reason, whose text begins like a thought',
    wire: [JSON.stringify({ choices: [{ message: { content: 'Okay, so it is 2.' }, finish_reason: null }] })],
    contentType: 'application/json',
    text: 'Okay, so it is 2.',
  },
  { name: 'parts without a type', wire: [chunk({ content: [{ text: 'It is' }, ' 2.'] }), STOP, DONE], text: TWO },
  { name: 'events that are called JSON', wire: says(TWO), contentType: 'application/json', text: TWO },
  { name: 'JSON that is called events', wire: [completion({ role: 'assistant', content: TWO })], text: TWO },
  {
    name: 'JSON that is called text',
    wire: ['\n', completion({ content: TWO })],
    contentType: 'text/plain',
    text: TWO,
  },
  { name: 'a thought without an opening mark', wire: says('They ask 1+1.', '</think>', TWO), text: TWO },
  { name: 'a thought in marks that are cut', wire: says('<thi', 'nk>so</th', 'ink>\n\n', TWO), text: TWO },
  { name: 'a thought of Kimi', wire: says('◁think▷so◁/think▷', TWO), text: TWO },
  {
    name: 'channels',
    wire: says('<|channel|>analysis<|message|>so<|end|>', '<|start|>assistant<|channel|>final<|message|>', TWO),
    text: TWO,
  },
  {
    name: 'a thought in parts',
    wire: [
      chunk({
        content: [
          { type: 'reasoning', text: 'so' },
          { type: 'text', text: TWO },
        ],
      }),
      STOP,
      DONE,
    ],
    text: TWO,
  },
  {
    name: 'a thought in details',
    wire: [chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'so' }] }), ...says(TWO)],
    text: TWO,
  },
  {
    name: 'an empty thought in front of an answer whose thought is in a field',
    wire: [chunk({ reasoning_content: 'so' }), ...says('<think>\n\n</think>\n\n', TWO)],
    text: TWO,
  },
  {
    name: 'a second thought behind a sentence',
    wire: says('<think>so</think>One moment.\n', '<thi', 'nk>\nThey ask 1+1.\n</think>\n\n', TWO),
    text: `One moment.\n${TWO}`,
  },
  { name: 'an end mark of Llama 2', wire: says(TWO, '</s>'), text: TWO },
  {
    name: 'the beginning of another message',
    wire: says(TWO, '<|eot_id|>', '<|start_header_id|>assistant<|end_header_id|>\n\n'),
    text: TWO,
  },
  {
    name: 'an interrupted answer that shows an object',
    wire: [...'{"name": "x"}\nis an object.'].map((content) => chunk({ content })),
    text: '{"name": "x"}\nis an object.',
    ending: 'cut',
  },
  {
    name: 'an answer that shows a tag',
    wire: says('Each <tool na', 'me="saw"> is an entry.'),
    text: 'Each <tool name="saw"> is an entry.',
  },
  {
    name: 'an answer that shows turns',
    wire: says('<|im_start|>system\nBe kind<|im', '_end|>\n<|im_start|>user\nHi<|im_end|>\n', TWO),
    text: `<|im_start|>system\nBe kind<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n${TWO}`,
  },
  {
    name: 'a last message that sums up',
    wire: [
      chunk({ content: 'It is' }),
      chunk({ content: ' 2.' }),
      sse({ choices: [{ index: 0, message: { content: TWO }, finish_reason: 'stop' }] }),
      DONE,
    ],
    text: TWO,
  },
  {
    name: 'a last delta that repeats all',
    wire: [chunk({ content: 'It is' }), chunk({ content: ' 2.' }), chunk({ content: TWO }, 'stop'), DONE],
    text: TWO,
  },
  {
    name: 'a last chunk twice',
    wire: [chunk({ content: 'It is' }), chunk({ content: ' 2.' }, 'stop'), chunk({ content: ' 2.' }, 'stop'), DONE],
    text: TWO,
  },
  {
    name: 'a last piece that comes again with the finish reason',
    wire: [
      chunk({ content: 'It ' }),
      chunk({ content: 'is 2, as you know.' }),
      chunk({ content: 'is 2, as you know.' }, 'stop'),
      DONE,
    ],
    text: 'It is 2, as you know.',
  },
  {
    name: 'the last pieces again as one, behind the end',
    wire: [
      chunk({ content: 'It' }),
      chunk({ content: ' is' }),
      chunk({ content: ' 2.' }, 'stop'),
      chunk({ content: ' is 2.' }, 'stop'),
      DONE,
    ],
    text: TWO,
  },
  {
    name: 'a last chunk with a thought, twice',
    wire: [...Array<string>(2).fill(chunk({ reasoning_content: 'so', content: TWO }, 'stop')), DONE],
    text: TWO,
    thought: 'so',
  },
  {
    name: 'a short piece that is said twice',
    wire: [chunk({ content: 'It is 1' }), chunk({ content: '1' }, 'stop'), DONE],
    text: 'It is 11',
  },
  {
    name: 'equal short pieces at the end',
    wire: [chunk({ content: 'It is ' }), chunk({ content: '2' }), chunk({ content: '2' }, 'stop'), DONE],
    text: 'It is 22',
  },
  { name: 'an unclear end', wire: [chunk({ content: 'It is' })], text: 'It is', ending: 'cut' },
  {
    name: 'an end by overload',
    wire: [chunk({ content: 'It is' }), chunk({}, 'engine_overloaded'), DONE],
    text: 'It is',
    ending: 'cut',
  },
  ...['MALFORMED_FUNCTION_CALL', 'disconnect', 'preempted', 'repetition_truncation'].map((reason) => ({
    name: `an end by ${reason}`,
    wire: [chunk({ content: 'It is' }, reason), DONE],
    text: 'It is',
    ending: 'cut' as const,
  })),
  {
    name: 'a call as text',
    wire: says(`<tool_call>{"name":"search_documents","arguments":${ARGS}}`, '</tool_call>'),
    text: '',
    calls: [CALL],
  },
  {
    name: 'a function call beside an empty list of calls',
    wire: [
      chunk({ tool_calls: [], function_call: { name: 'search_documents', arguments: ARGS } }),
      chunk({}, 'function_call'),
      DONE,
    ],
    text: '',
    calls: [CALL],
  },
  {
    name: 'a call as text of Mistral',
    wire: says('[TOOL_', `CALLS]search_documents[ARGS]${ARGS}`),
    text: '',
    calls: [CALL],
  },
  {
    name: 'a call that is sent again',
    wire: [call({ index: 0, id: 'a' }, ARGS), call({ index: 0, id: 'a' }, ARGS), END, DONE],
    text: '',
    calls: [CALL],
  },
  {
    name: 'a call whose last piece is repeated',
    wire: [
      call({ index: 0, id: 'a' }, '{"query":'),
      rest({ index: 0 }, '"fees"}'),
      rest({ index: 0 }, '"fees"}'),
      END,
      DONE,
    ],
    text: '',
    calls: [CALL],
  },
  {
    name: 'a call that starts again',
    wire: [call({ index: 0, id: 'a' }, '{"query"'), rest({ index: 0 }, ARGS), END, DONE],
    text: '',
    calls: [CALL],
  },
  {
    name: 'a call without index and id, as an object, twice',
    wire: [call({}, { query: 'fees' }), call({}, { query: 'fees' }), END, DONE],
    text: '',
    calls: [CALL],
  },
  {
    name: 'a last message that sums calls up',
    wire: [
      call({ index: 0, id: 'a' }, ARGS),
      sse({
        choices: [
          {
            message: {
              content: null,
              tool_calls: [{ id: 'a', function: { name: 'search_documents', arguments: ARGS } }],
            },
            finish_reason: 'tool_calls',
          },
        ],
      }),
      DONE,
    ],
    text: '',
    calls: [CALL],
  },
];
