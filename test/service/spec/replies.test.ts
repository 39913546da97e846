import { beforeAll, describe, expect, test } from '@jest/globals';
import { NO_LIMITS } from '../support.ts';
import { askChat, contentOf, streamChat, type Chunk } from '../chat-client.ts';
import { user, WEATHER } from '../chat-bodies.ts';
import { useTestService } from '../use-test-service.ts';

const { service } = useTestService({ chatLimits: NO_LIMITS });

const COUNT = { model: 'svc-max', messages: [user('count to 100')] };
const THINK = { ...COUNT, messages: [user('count to 5')], thinking: { type: 'enabled' } };
const CALL = { model: 'svc-plus', messages: [user('What is the weather in Beijing?')], tools: [WEATHER] };
const THINK_AND_CALL = { ...CALL, thinking: { type: 'enabled' } };
const SAID = Array.from({ length: 100 }, (_, index) => index + 1).join(' ');
const ID = expect.stringMatching(/^chatcmpl-[\da-f]{24}$/);
const CALL_ID = expect.stringMatching(/^call_[\da-f]{24}$/);

/** A value at a path of an answer: `choices.0.message.role`. */
function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((found, step) => (found as Record<string, unknown> | undefined)?.[step], value);
}

describe('complete reply [reply]', () => {
  test.each<[row: string, request: object, path: string, value: unknown]>([
    ['id: string', COUNT, 'id', ID],
    ['object: chat.completion', COUNT, 'object', 'chat.completion'],
    ['created: int, creation time in seconds', COUNT, 'created', 1_800_000_000],
    ['model: the model that answered', COUNT, 'model', 'svc-max'],
    ['model: the model that answered', CALL, 'model', 'svc-plus'],
    ['choices: array of one reply', COUNT, 'choices.length', 1],
    ['choices[].index: int', COUNT, 'choices.0.index', 0],
    ['choices[].message: object', COUNT, 'choices.0.message', { role: 'assistant', content: SAID, tool_calls: [] }],
    ['choices[].message.role: assistant', CALL, 'choices.0.message.role', 'assistant'],
    ['choices[].message.content: string', COUNT, 'choices.0.message.content', SAID],
    ['choices[].message.content: null when the reply is a tool call', CALL, 'choices.0.message.content', null],
    [
      'choices[].message.reasoning_content: when thinking is on',
      THINK,
      'choices.0.message.reasoning_content',
      expect.stringMatching(/set of rules/),
    ],
    [
      'choices[].message.reasoning_content: with a tool call too',
      THINK_AND_CALL,
      'choices.0.message.reasoning_content',
      expect.stringMatching(/get_weather/),
    ],
    [
      'choices[].message.reasoning_content: absent unless thinking was requested',
      COUNT,
      'choices.0.message.reasoning_content',
      undefined,
    ],
    [
      'choices[].message.reasoning_content: absent when thinking is off',
      { ...COUNT, thinking: { type: 'disabled' } },
      'choices.0.message.reasoning_content',
      undefined,
    ],
    ['choices[].message.tool_calls: may be an empty array', COUNT, 'choices.0.message.tool_calls', []],
    ['choices[].message.tool_calls[].id: string', CALL, 'choices.0.message.tool_calls.0.id', CALL_ID],
    ['choices[].message.tool_calls[].type: function', CALL, 'choices.0.message.tool_calls.0.type', 'function'],
    [
      'choices[].message.tool_calls[].function.name: string',
      CALL,
      'choices.0.message.tool_calls.0.function.name',
      'get_weather',
    ],
    [
      'choices[].message.tool_calls[].function.arguments: JSON-encoded string',
      CALL,
      'choices.0.message.tool_calls.0.function.arguments',
      '{"city":"Beijing"}',
    ],
    ['choices[].finish_reason: stop', COUNT, 'choices.0.finish_reason', 'stop'],
    ['choices[].finish_reason: tool_calls', CALL, 'choices.0.finish_reason', 'tool_calls'],
    ['choices[].logprobs: null', COUNT, 'choices.0.logprobs', null],
    ['choices[].stop_reason: null', COUNT, 'choices.0.stop_reason', null],
    ['prompt_logprobs: null', COUNT, 'prompt_logprobs', null],
    ['usage: object', COUNT, 'usage', { prompt_tokens: 7, completion_tokens: 100, total_tokens: 107 }],
    ['usage.prompt_tokens: int, an estimate', COUNT, 'usage.prompt_tokens', 7],
    ['usage.completion_tokens: int, for a call too', CALL, 'usage.completion_tokens', 8],
    ['usage.total_tokens: the sum', COUNT, 'usage.total_tokens', 107],
  ])('%s [reply]', async (_, request, path, value) => {
    const { body } = await askChat(service, request);
    expect(at(body, path)).toEqual(value);
  });

  test('no fields beyond the table [reply]', async () => {
    for (const request of [COUNT, THINK, CALL]) {
      const { body } = await askChat(service, request);
      expect(Object.keys(body).sort()).toEqual([
        'choices',
        'created',
        'id',
        'model',
        'object',
        'prompt_logprobs',
        'usage',
      ]);
      expect(Object.keys(at(body, 'choices.0') as object).sort()).toEqual([
        'finish_reason',
        'index',
        'logprobs',
        'message',
        'stop_reason',
      ]);
    }
  });

  test('usage: longer prompts, images and tools cost more, and Chinese is counted by character [reply]', async () => {
    const tokens = async (content: unknown, more: object = {}) =>
      at(
        (await askChat(service, { model: 'svc-plus', messages: [user(content)], ...more })).body,
        'usage.prompt_tokens',
      ) as number;
    const image = { type: 'image_url', image_url: { url: 'https://example.org/a.png' } };
    const short = await tokens('abcd');
    expect(await tokens('abcd'.repeat(10))).toBe(short + 9);
    expect(await tokens('你好你好')).toBe(short + 3);
    expect(await tokens([{ type: 'text', text: 'abcd' }, image])).toBeGreaterThan(short + 100);
    expect(await tokens('abcd', { tools: [WEATHER] })).toBeGreaterThan(short + 10);
  });
});

const textOf = (chunks: Chunk[]) => chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');

describe('streamed chunk [chunk]', () => {
  let chunks: Chunk[];
  let lines: string[];
  beforeAll(async () => {
    ({ chunks, lines } = await streamChat(service, COUNT));
  });

  test.each<[row: string, field: keyof Chunk, value: unknown]>([
    ['id: string, the same in all chunks', 'id', ID],
    ['object: chat.completion.chunk', 'object', 'chat.completion.chunk'],
    ['created: int, creation time in seconds', 'created', 1_800_000_000],
    ['model: the model that answers', 'model', 'svc-max'],
  ])('%s [chunk]', (_, field, value) => {
    expect(chunks.map((chunk) => chunk[field])).toEqual(Array(101).fill(value));
    expect(new Set(chunks.map((chunk) => chunk[field])).size).toBe(1);
  });

  test('choices[].index: int [chunk]', () => {
    expect(chunks.map(({ choices }) => at(choices, '0.index'))).toEqual(Array(101).fill(0));
  });

  test('choices[].delta.content: text fragments, one token each [chunk]', () => {
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' });
    expect(chunks.slice(1).map(({ choices }) => choices[0]?.delta)).toEqual(
      SAID.match(/\d+ ?/g)?.map((content) => ({ content })),
    );
  });

  test('choices[].finish_reason: only on the last content chunk (stop) [chunk]', () => {
    expect(chunks.filter(({ choices }) => 'finish_reason' in (choices[0] ?? {}))).toEqual([chunks.at(-1)]);
    expect(chunks.at(-1)?.choices).toEqual([{ index: 0, delta: { content: '100' }, finish_reason: 'stop' }]);
  });

  test('lines of the form `data: <JSON chunk>` [stream]', () => {
    expect(lines).toHaveLength(102);
    expect(lines.every((line) => /^data: (?:\{.*\}|\[DONE\])$/.test(line))).toBe(true);
  });

  test('fragments in delta.content form the text, and the last content chunk has finish_reason [stream]', () => {
    expect(textOf(chunks)).toBe(SAID);
    expect(chunks.at(-1)?.choices[0]).toHaveProperty('finish_reason');
  });

  test('the stream ends with the line `data: [DONE]` [stream]', () => {
    expect(lines.at(-1)).toBe('data: [DONE]');
    expect(lines.filter((line) => line === 'data: [DONE]')).toHaveLength(1);
  });

  test('usage in a last chunk only if stream_options requests it [stream]', async () => {
    const asked = await streamChat(service, { ...COUNT, stream_options: { include_usage: true } });
    expect(asked.chunks).toHaveLength(102);
    expect(asked.chunks.at(-1)).toEqual({
      id: ID,
      object: 'chat.completion.chunk',
      created: 1_800_000_000,
      model: 'svc-max',
      choices: [],
      usage: { prompt_tokens: 7, completion_tokens: 100, total_tokens: 107 },
    });
    expect(asked.lines.at(-1)).toBe('data: [DONE]');
    expect(lines.join()).not.toContain('usage');
  });
});

describe('thinking [request-fields]', () => {
  test.each(['svc-plus', 'svc-max'])('with %s is streamed before the text', async (model) => {
    const { chunks } = await streamChat(service, { ...THINK, model });
    const kinds = chunks.flatMap(({ choices }) => Object.keys(choices[0]?.delta ?? {}).filter((key) => key !== 'role'));
    expect(kinds.join(' ')).toMatch(/^content( reasoning_content)+( content){5}$/);
    const thought = chunks.map(({ choices }) => choices[0]?.delta.reasoning_content ?? '').join('');
    const { body } = await askChat(service, { ...THINK, model });
    expect(body.choices).toMatchObject([{ message: { content: '1 2 3 4 5', reasoning_content: thought } }]);
  });

  test.each([undefined, { type: 'disabled' }])(
    'with %j, streams no reasoning at all [request-fields]',
    async (thinking) => {
      expect((await streamChat(service, { ...THINK, thinking })).lines.join()).not.toContain('reasoning_content');
    },
  );
});

describe('tool call flow [chat-completions]', () => {
  test('streams deltas: id and name first, arguments in parts, finish_reason tool_calls', async () => {
    const { chunks } = await streamChat(service, CALL);
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: null });
    const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(calls[0]).toEqual({
      index: 0,
      id: CALL_ID,
      type: 'function',
      function: { name: 'get_weather', arguments: '' },
    });
    expect(calls.slice(1).every((call) => Object.keys(call).join() === 'index,function')).toBe(true);
    expect(calls.length).toBeGreaterThan(3);
    expect(calls.map((call) => call.function.arguments).join('')).toBe('{"city":"Beijing"}');
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
    expect(textOf(chunks)).toBe('');
  });

  test('supports several rounds: each result is repeated, and the next question may call again', async () => {
    const messages: unknown[] = [];
    for (const [city, weather] of [
      ['Beijing', '21 degrees'],
      ['Shanghai', 'rain'],
    ] as const) {
      messages.push(user(`What is the weather in ${city}?`));
      const { body } = await askChat(service, { ...CALL, messages });
      const message = at(body, 'choices.0.message') as {
        tool_calls: { id: string; function: { arguments: string } }[];
      };
      expect(message.tool_calls[0]?.function.arguments).toBe(JSON.stringify({ city }));
      // The reply is sent back as received, including empty fields.
      messages.push(message, { role: 'tool', tool_call_id: message.tool_calls[0]?.id, content: weather });
      const told = await askChat(service, { ...CALL, messages });
      expect(contentOf(told)).toContain(`\`get_weather\` answered:\n\n> ${weather}\n`);
      messages.push(at(told.body, 'choices.0.message'));
    }
    expect(messages).toHaveLength(8);
  });

  test('repeats the results of several concurrent calls', async () => {
    const calls = ['a', 'b'].map((id) => ({ id, type: 'function', function: { name: `tool_${id}`, arguments: '{}' } }));
    const results = ['b', 'a'].map((id) => ({ role: 'tool', tool_call_id: id, content: `result of ${id}` }));
    const messages = [user('x'), { role: 'assistant', content: null, tool_calls: calls }, ...results];
    expect(contentOf(await askChat(service, { ...CALL, messages }))).toBe(
      '`tool_b` answered:\n\n> result of b\n\n`tool_a` answered:\n\n> result of a\n\n' +
        "I'm Parley's small built-in model: I pass this on unchanged.",
    );
  });

  test('calls no tool that was not sent, and none if the request forbids it', async () => {
    for (const request of [
      { ...CALL, tools: [] },
      { ...CALL, tools: undefined },
      { ...CALL, messages: [user('hello')] },
    ]) {
      const { body } = await askChat(service, request);
      expect(at(body, 'choices.0.finish_reason')).toBe('stop');
      expect(at(body, 'choices.0.message.tool_calls')).toEqual([]);
    }
  });
});
