import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ReplyText,
  type Ending,
  type ParsedReply,
  type ReplyTextOptions,
} from '../../../src/shared/models/reply-text.ts';
import { CALL_MARKS, THOUGHT_MARKS } from '../../../src/shared/models/reply-marks.ts';
import { tries } from '../../support/tries.ts';

const TOOLS: ReadonlySet<string> = new Set(['search_documents', 'current_time']);
const NO_TOOLS: ReadonlySet<string> = new Set();

/** The combined result of all parts of an answer. */
function read(
  pieces: readonly string[],
  { offered = TOOLS, thoughtFirst = false, ending = 'whole' }: Partial<ReplyTextOptions> & { ending?: Ending } = {},
) {
  const reading = new ReplyText({ offered, thoughtFirst });
  const all: ParsedReply = { thought: '', text: '', calls: [], retracts: false };
  const take = (part: ParsedReply) => {
    if (part.retracts) [all.thought, all.text, all.retracts] = [all.thought + all.text, '', true];
    all.thought += part.thought;
    all.text += part.text;
    all.calls.push(...part.calls);
  };
  for (const piece of pieces.slice(0, -1))
    if (reading.passes(piece)) all.text += piece;
    else take(reading.part(piece));
  take(reading.part(pieces.at(-1) ?? '', ending));
  return { thought: all.thought, text: all.text, calls: all.calls };
}

const cut = (text: string, places: readonly number[]) => {
  const bounds = [
    0,
    ...places.filter((place) => place < text.length).toSorted((one, other) => one - other),
    text.length,
  ];
  return bounds.slice(1).map((end, index) => text.slice(bounds[index], end));
};

const byFour = (text: string) => text.match(/[^]{1,4}/g) ?? [];
const byLetter = (text: string) => [...text];
const ENDINGS = ['whole', 'length', 'cut'] as const;
/** A text as it may arrive: at once or in parts, with or without an empty chunk at the end. */
const arrivals = (text: string) => [[text], [text, ''], byLetter(text), [...byLetter(text), ''], byFour(text)];

describe('a thought in the text', () => {
  test.each(
    THOUGHT_MARKS.flatMap(({ open, closes, isWord = false }) => closes.map((close) => [open, close, isWord] as const)),
  )('%s … %s is not part of the answer, at once and letter by letter [whole-answers]', (open, close, isWord) => {
    const answer = `${open}They ask 1+1.${close}\n\nIt is **2**.`;
    for (const pieces of [[answer], isWord ? byFour(answer) : byLetter(answer)])
      expect(read(pieces)).toEqual({ thought: 'They ask 1+1.', text: 'It is **2**.', calls: [] });
  });

  test.each([
    ['no opening mark', ['They ask 1+1.', '</think>', 'It is 2.'], 'They ask 1+1.'],
    [
      'no opening mark, in plain words',
      ['Sum of two ones.', ' That is two.\n', '</think>\n\nIt is 2.'],
      'Sum of two ones. That is two.\n',
    ],
    ['no opening mark in Chinese', ['用户在问一加一。', '\n</think>\n\n', 'It is 2.'], '用户在问一加一。\n'],
    ['the closing mark of another family', ['Add them up.[/THINK]It is 2.'], 'Add them up.'],
    ['only a closing mark', ['</think>\n\nIt is 2.'], ''],
    ['several thoughts', ['<think>one</think>\n<think>two</think>It is 2.'], 'onetwo'],
    ['an answer in its own marks', ['<think>so</think><answer>It is 2.</answer>'], 'so'],
    [
      'all channels',
      ['<|channel|>analysis<|message|>so<|end|><|start|>assistant<|channel|>final<|message|>It is 2.<|return|>'],
      'so',
    ],
    ['an end mark of the model', ['It is 2.<|im_end|>'], ''],
    ['an invented turn of the user', ['It is 2.<|im_end|>\n<|im_start|>user\nAnd 2+2?<|im_end|>'], ''],
    ['the beginning of another message of Gemma', ['It is <end_of_turn>\n<start_of_turn>model\n2.'], ''],
    ['an invented turn of Gemma', ['It is 2.<end_of_turn>\n<start_of_turn>user\nAnd 2+2?'], ''],
    ['a box of GLM', ['<think>so</think>It is <|begin_of_box|>2<|end_of_box|>.'], 'so'],
    ['a format in the channel of the answer', ['<|channel|>final <|constrain|>json<|message|>It is 2.'], ''],
    ['a mark of the assistant', ['<|assistant|>\nIt is 2.'], ''],
    ['a mark of the assistant of DeepSeek', ['<｜Assistant｜>It is 2.<eos>'], ''],
    ['a page for people', ['<details type="reasoning" done="true">\nso\n</details>\nIt is 2.'], ' done="true">\nso\n'],
  ])('is separated with %s', (_, pieces, thought) => {
    for (const given of [pieces, byLetter(pieces.join(''))])
      expect(read(given)).toEqual({ thought, text: 'It is 2.', calls: [] });
  });

  test('is hidden until the closing mark for a model that thinks first, and shown if there is none', () => {
    const reading = new ReplyText({ offered: NO_TOOLS, thoughtFirst: true });
    expect(reading.part('Two ones make two').text).toBe('');
    expect(reading.part('.</think>It is').text).toBe('It is');
    expect(read(['It is 2.'], { thoughtFirst: true }).text).toBe('It is 2.');
  });
});

describe('texts about marks', () => {
  test.each([
    'Models write `<think>` and `</think>` around a thought.',
    'The tag <think> begins it, and </think> ends it.',
    'The closing tag </think> alone says little.',
    '```\n<think>\nso\n</think>\n```\nThat is a thought.',
    'Use <tool_call> to call a tool, as in `<tool_call>{"name":"current_time"}</tool_call>`.',
    '```xml\n<tool_call>{"name":"current_time","arguments":{}}</tool_call>\n```\nis a call.',
    'A list: [1] and [TOOL',
    '[a](b) <b>bold</b> 1 < 2 ◁',
    '```json\n{"name": "Ann", "age": 3}\n```\nis a person.',
    '{"name": "unknown_tool", "arguments": {}}',
    'analysis of the data shows growth.',
    '[search_documents(x) and others](https://example.com) are functions.',
    '[unknown_tool(x=1)]',
    'Okay, so here is the plan.',
    'It begins with\n<think>\non a line of its own.\n<think>\nTwice.',
    'Write <s>old</s> and `</s>`.',
    'It holds\n{"name": "Ann"}\nand more.',
    '<details>\n<summary>More</summary>\nText\n</details>\nEnd.',
    'Old: <s>a</s><sub>b</sub>',
    'The form:\n<reason>late</reason>\n<reasoning>none</reasoning>\nThat is all.',
  ])('stay unchanged: %j', (text) => {
    for (const pieces of [[text], byLetter(text)]) expect(read(pieces)).toEqual({ thought: '', text, calls: [] });
  });
});

const CHAT_ML = 'ChatML:\n<|im_start|>system\nBe kind<|im_end|>\n<|im_start|>user\nHello<|im_end|>\nImportant advice.';

describe.each(ENDINGS)('texts that end by %s', (ending) => {
  test.each([
    'Here is it:\n{"name": "x", "version": 1}\nAnd now ordinary text follows.',
    '{"type": "object"}\nis a schema.',
    'Here is it:\n```json\n{"name": "x", "note": "```"}\n```\nAnd `more` follows.',
    'Here is it:\n{"type": "menu", "items": [\n{"name": "it\\"s"}]}',
    'Here is it:\n{"type": "menu", "items": [',
    '[foo(1), bar(2)] is a list.',
    'Python has functools[0], functools and `functools[{"name":"current_time"}]`.',
    'It is functools[{"name":"unknown_tool"}]',
    'Write functools[{"name":"current_time"}] to call it.',
    'As XML:\n```xml\n<tool_call>{"name":"current_time"}</tool_call>\n```\nThat is a call.',
    'As XML:\n```xml\n<tool_call>{"name":"unknown_tool"}</tool_call>\n```',
    'As XML:\n```xml\n<tool>\n<name>saw</name>\n</tool>\n```',
    'As XML:\n```xml\n<function name="main">x</function>\n```',
    '{"name": "x"}\n`name` is its name.',
    '{"name": "x"}\n[More](y) about it.',
    '{"name": "current_time"} asks for the time.',
    'In this XML <tool name="hammer"> starts an entry. The rest explains it.',
    'Write <function name="main">body</function> in the file. Then save.',
    'Write <function name="main">current_time()</function> in the file. Then save.',
    'Run <tool_code>print("hi")</tool_code> now.',
    '<tools>\n<tool name="saw"/>\n</tools> lists them.',
    'An <invoke name="x"> and a <function(x)> that stay open.',
    'Use <tool_call> to call a tool.',
    CHAT_ML,
    CHAT_ML.replaceAll('<|im_start|>', '<start_of_turn>').replaceAll('<|im_end|>', '<end_of_turn>'),
  ])('stay unchanged: %j [whole-answers]', (text) => {
    for (const pieces of arrivals(text)) expect(read(pieces, { ending })).toEqual({ thought: '', text, calls: [] });
  });
});

test.each(['length', 'cut'] as const)('a call that is torn by %s is not text', (ending) => {
  for (const call of [
    '<tool_call>',
    '<tool_call>{"na',
    '<|python_tag|>print("hi',
    '{"name": "sear',
    '```json\n{"name": "search_documents", "arguments": {"query": "fe',
    '{"arguments": {"query": "fees"}, "name": "search_documents"',
    '[search_documents(query="fe',
    '<tool name="sear',
    '<tool name="search_documents">{"query": "fe',
    '<tool_code>\nprint(search_documents(query="fe',
  ])
    for (const pieces of arrivals(`One moment.\n${call}`))
      expect([call, read(pieces, { ending }).text]).toEqual([call, 'One moment.\n']);
});

test.each([
  ['an object', 'It holds\n{"name": "Ann"}\n and'],
  ['a block of code', '```json\n{"name": "Ann"}\n```\nis'],
  ['a tag', `<tool name="saw"> is ${'an entry '.repeat(25)}`],
  ['a mark of calls', `<tool_call> is ${'a mark '.repeat(30)}`],
])('the text behind %s is shown while the answer grows', (_, text) => {
  const reading = new ReplyText({ offered: TOOLS, thoughtFirst: false });
  const shown = byLetter(text).map((piece) => (reading.passes(piece) ? piece : reading.part(piece).text));
  expect(shown.join('')).toBe(text);
});

describe('tool calls in the text', () => {
  const call = { name: 'search_documents', argumentsJson: '{"query":"fees, 费用"}' };
  const json = JSON.stringify({ name: call.name, arguments: { query: 'fees, 费用' } });
  const args = call.argumentsJson;
  test.each([
    `<tool_call>${json}</tool_call>`,
    `<tool_call>\n${json}\n</tool_call>\n`,
    `<tool_call>search_documents\n<arg_key>query</arg_key>\n<arg_value>fees, 费用</arg_value>\n</tool_call>`,
    '<tool_call>\n<function=search_documents>\n<parameter=query>\nfees, 费用\n</parameter>\n</function>\n</tool_call>',
    `<function=search_documents>${args}</function>`,
    `<function_calls><invoke name="search_documents"><parameter name="query">fees, 费用</parameter></invoke></function_calls>`,
    '<minimax:tool_call>\n<invoke name="search_documents">\n<parameter name="query">fees, 费用</parameter>\n</invoke>\n</minimax:tool_call>',
    `[TOOL_CALLS][${json}]`,
    `[TOOL_CALLS]search_documents[ARGS]${args}`,
    `[TOOL_CALLS]search_documents${args}`,
    `<|python_tag|>{"type":"function","name":"search_documents","parameters":${args}}`,
    `<|python_tag|>search_documents(query="fees, 费用")`,
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search_documents\n\`\`\`json\n${args}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search_documents<｜tool▁sep｜>${args}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.search_documents:0<|tool_call_argument_begin|>${args}<|tool_call_end|><|tool_calls_section_end|>`,
    `<|channel|>commentary to=functions.search_documents <|constrain|>json<|message|>${args}<|call|>`,
    `functools[${json}]`,
    `<TOOLCALL>[${json}]</TOOLCALL>`,
    `\`\`\`json\n${json}\n\`\`\``,
    json,
    `[${json}]`,
    `<longcat_tool_call>${json}</longcat_tool_call>`,
    `<|tools_prefix|>[{"search_documents":${args}}]<|tools_suffix|>`,
    '<start_function_call>call:search_documents{query:<escape>fees, 费用<escape>}<end_function_call>',
    '<|tool_call>call:search_documents{query:<|"|>fees, 费用<|"|>}<tool_call|>',
    '[search_documents(query="fees, 费用")]',
    '```tool_code\nprint(search_documents(query="fees, 费用"))\n```',
    ...['antml:', 'steptml:'].map((ns) => {
      const invoked = `<${ns}invoke name="search_documents"><${ns}parameter name="query">fees, 费用</${ns}parameter></${ns}invoke>`;
      return ns.startsWith('s')
        ? `<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>${invoked}<｜tool_call_end｜><｜tool_calls_end｜>`
        : `<${ns}function_calls>${invoked}</${ns}function_calls>`;
    }),
    `<think>I search.</think>\n<tool_call>${json}</tool_call>`,
    `<tool_call name="search_documents">${args}</tool_call>`,
    `<tool name="search_documents">${args}</tool>`,
    `<function(search_documents)>${args}</function>`,
    '<function name="search_documents"><param name="query">fees, 费用</param></function>',
    '<tool_calls><tool_call>search_documents<tool_sep>\n<arg_key>query</arg_key>\n<arg_value>fees, 费用</arg_value>\n</tool_call></tool_calls>',
    '<tool_code>\nprint(search_documents(query="fees, 费用"))\n</tool_code>',
    `<TOOL_CALL>${json}</TOOL_CALL>`,
    `[TOOL_CALL]${json}[/TOOL_CALL]`,
    `{"tool_calls":[{"type":"function","function":${json}}]}`,
  ])('are read from %j as one call and no text [whole-answers]', (text) => {
    for (const pieces of [[text], byLetter(text)]) {
      const { text: shown, calls } = read(pieces);
      expect([
        shown.trim(),
        calls.map(({ name, argumentsJson }) => [name, JSON.parse(argumentsJson) as unknown]),
      ]).toEqual(['', [[call.name, JSON.parse(args)]]]);
    }
  });

  test('are read after a sentence, and when there are two', () => {
    expect(
      read([`I look it up.\n<tool_call>${json}</tool_call>\n<tool_call>{"name":"current_time"}</tool_call>`]),
    ).toEqual({
      thought: '',
      text: 'I look it up.\n',
      calls: [call, { name: 'current_time', argumentsJson: '{}' }],
    });
  });

  test('are read behind a sentence without marks, and from each mark of Mistral', () => {
    expect(read([`I look it up.\n\n${json}`])).toEqual({ thought: '', text: 'I look it up.\n\n', calls: [call] });
    expect(read([`[TOOL_CALLS]search_documents[ARGS]${args}[TOOL_CALLS]current_time[ARGS]{}`]).calls).toEqual([
      call,
      { name: 'current_time', argumentsJson: '{}' },
    ]);
  });

  test.each([
    `functools[${json}]`,
    `\`\`\`xml\n<tool_call>\n${json}\n</tool_call>\n\`\`\``,
    `\`\`\`\n<tool_call>${json}</tool_call>\n\`\`\`\n`,
    '```xml\n<function=search_documents>\n<parameter=query>fees, 费用</parameter>\n</function>\n```',
    '```xml\n<function_calls>\n<invoke name="search_documents"><parameter name="query">fees, 费用</parameter></invoke>\n</function_calls>\n```',
  ])('are read behind a sentence and at the beginning: %j [whole-answers]', (written) => {
    for (const before of ['I look it up.\n', ...(written.startsWith('`') ? [] : ['I look it up. ']), ''])
      for (const pieces of arrivals(before + written)) {
        const { text, calls } = read(pieces);
        expect([text.trim(), calls]).toEqual([before.trim(), [call]]);
      }
  });

  test('with arguments that are not JSON are returned as they are, so that the model learns of the fault', () => {
    const written = "{'name': 'search_documents', 'arguments': {'query': 'fees'}}";
    const calls = [{ name: 'search_documents', argumentsJson: written }];
    expect(read([`<tool_call>${written}</tool_call>`])).toEqual({ thought: '', text: '', calls });
  });

  test('are read from a list of Python calls', () => {
    expect(read(['[search_documents(query="fees, 费用"), current_time(timeZone="UTC")]'])).toEqual({
      thought: '',
      text: '',
      calls: [call, { name: 'current_time', argumentsJson: '{"timeZone":"UTC"}' }],
    });
  });

  test('stay text if no tools are offered, and are ignored if they are cut', () => {
    const text = `<tool_call>${json}</tool_call>`;
    expect(read([text], { offered: NO_TOOLS }).text).toBe(text);
    const reading = new ReplyText({ offered: TOOLS, thoughtFirst: false });
    reading.part('<tool_call>{"na');
    expect(reading.part('', 'cut')).toMatchObject({ text: '', calls: [] });
  });
});

test.each(['cut', 'length'] as const)('a second thought that ends by %s is not part of the answer', (ending) => {
  const reading = new ReplyText({ offered: NO_TOOLS, thoughtFirst: false });
  expect(reading.part('Hello.\n<think>\nThey ask').text).toBe('Hello.\n');
  expect(reading.part('', ending)).toMatchObject({ thought: '\nThey ask', text: '' });
});

test('the parts of a text do not depend on how it is cut [whole-answers]', () => {
  const marks = [...THOUGHT_MARKS.filter(({ isWord }) => !isWord), ...CALL_MARKS].flatMap(({ open, closes }) => [
    open,
    ...closes,
  ]);
  const letters = fc.constantFrom(
    ...marks,
    '<',
    '`',
    '```',
    '\n',
    ' ',
    'a',
    '.',
    '你',
    '{"name":"current_time"}',
    '\n{"name":"x"}',
    '[x(1)]',
    'current_time">',
    '<|im_start|>user',
    'functools[{"name":"current_time"}]',
    '```xml\n<tool_call>',
    'f',
    'functools',
    '🙂',
  );
  const text = fc.array(letters, { maxLength: 10 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(
      text,
      fc.array(fc.nat({ max: 120 }), { maxLength: 8 }),
      fc.boolean(),
      fc.constantFrom(...ENDINGS),
      (whole, places, hasTools, ending) => {
        const offered = hasTools ? TOOLS : NO_TOOLS;
        expect(read(cut(whole, places), { offered, ending })).toEqual(read([whole], { offered, ending }));
      },
    ),
    // With an empty chunk in between.
    {
      numRuns: tries(2_000),
      examples: [
        ['🙂</thought>', [2, 2], false, 'whole'],
        ['f</think>functools[{"name":"current_time"}]', [1], true, 'whole'],
        ['.\n <think>', [1, 2, 3], false, 'length'],
      ],
    },
  );
});

test('a text without marks stays unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      fc.pre(!/[<[{◁`]/.test(text));
      expect(read([text])).toEqual({ thought: '', text, calls: [] });
    }),
  );
});
