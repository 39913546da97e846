import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ChatMessage } from '../../../src/bot/model/chat-types.ts';
import { readRefusal } from '../../../src/bot/model/refused-fields.ts';
import { OPTIONAL_FIELDS } from '../../../src/bot/model/request-body.ts';
import { startChatFixture, type ChatFixture } from './chat-fixture.ts';
import { helloStream, jsonOf } from './scripted-chat-server.ts';

const HOUR_MS = 3_600_000;
const TOOL = { name: 'clock', description: 'Tells the time', parameters: { type: 'object', properties: {} } };

let fixture: ChatFixture;
beforeEach(async () => {
  fixture = await startChatFixture();
});
afterEach(() => fixture.stop());

/** Refusals in the words of real engines, with the fields that they are about. */
const REFUSALS: [engine: string, status: number, body: unknown, fields: string[]][] = [
  [
    'OpenAI',
    400,
    {
      error: {
        message:
          "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ...{ type: 'invalid_request_error', param: 'max_tokens', code: 'unsupported_parameter' },
      },
    },
    ['max_tokens'],
  ],
  [
    'vLLM',
    400,
    {
      object: 'error',
      message:
        "[{'type': 'extra_forbidden', 'loc': ('body', 'thinking'), 'msg': 'Extra inputs are not permitted', 'input': {'type': 'enabled'}}]",
      code: 400,
    },
    ['thinking'],
  ],
  [
    'a gateway made with FastAPI',
    422,
    { detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] },
    ['stream_options'],
  ],
  [
    'Ollama',
    400,
    { error: { message: 'registry.ollama.ai/library/gemma3:4b does not support tools', type: 'api_error' } },
    ['tools'],
  ],
  [
    'vLLM that was started without tools',
    400,
    {
      object: 'error',
      message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
      ...{ type: 'BadRequestError', param: null, code: 400 },
    },
    ['tools'],
  ],
  [
    'llama.cpp that was started without tools',
    500,
    { error: { code: 500, message: 'tools param requires --jinja flag', type: 'server_error' } },
    ['tools'],
  ],
  [
    'Ollama, of a model that does not think',
    400,
    { error: { message: '"llama3.1:8b" does not support thinking', type: 'invalid_request_error' } },
    ['thinking'],
  ],
  [
    'Zhipu, which names none',
    400,
    { error: { code: '1210', message: 'API 调用参数有误，请检查文档。' } },
    ['max_tokens', 'reasoning_effort', 'stream_options', 'thinking'],
  ],
  [
    'our own service',
    400,
    {
      error: {
        message: 'reasoning_effort must be left out: svc-plus does not support it',
        ...{ type: 'invalid_request_error', param: 'reasoning_effort', code: 'invalid_value' },
      },
    },
    ['reasoning_effort'],
  ],
  [
    'an engine that names none',
    400,
    { error: { message: 'Unrecognized request argument supplied' } },
    ['max_tokens', 'reasoning_effort', 'stream_options', 'thinking'],
  ],
];

const SENT = { stream_options: {}, thinking: {}, reasoning_effort: 'low', max_tokens: 5, tools: [] };

describe('the fields of a refusal', () => {
  test.each(REFUSALS)('are read from the words of %s', (_, status, body, fields) => {
    expect(readRefusal(status, JSON.stringify(body), SENT).refusedFields.sort()).toEqual(fields);
  });

  test.each([
    "Invalid value for 'messages[1].role': expected one of 'system', 'user', 'assistant'",
    'The image could not be read',
    'Output data may contain inappropriate content.',
    'enable_thinking is of no use here',
    '',
  ])('are none if no optional field is refused: %s', (message) => {
    expect(readRefusal(400, JSON.stringify({ error: { message } }), { ...SENT }).refusedFields).toEqual([]);
  });

  test('are always among those that were sent, whatever the body contains', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.subarray([...OPTIONAL_FIELDS]),
        fc.subarray([...OPTIONAL_FIELDS]),
        (text, said, sent) => {
          const fields = Object.fromEntries(sent.map((field) => [field, 1]));
          const words = `${text} "${said.join('" "')}" unknown field`;
          for (const field of [400, 500].flatMap((status) => readRefusal(status, words, fields).refusedFields))
            expect(sent).toContain(field);
        },
      ),
    );
  });
});

test.each(REFUSALS.filter(([engine]) => !/OpenAI|our own/.test(engine)))(
  'a field that %s refuses is omitted at once and from then on',
  async (_engine, status, body) => {
    fixture.server.script(jsonOf(body, status), helloStream(), helloStream());
    const question = { model: 'svc-max', thinking: 'high', tools: [TOOL] } as const;
    expect((await fixture.ask(question)).text).toBe('hello');
    expect((await fixture.ask(question)).text).toBe('hello');
    const [first, second, third] = fixture.server.calls.map(({ body: sent }) => Object.keys(sent as object).sort());
    expect(second).not.toEqual(first);
    expect(third).toEqual(second);
    expect(fixture.server.calls).toHaveLength(3);
    // The request is repeated without a pause and without counting as a failure.
    expect([fixture.retries, fixture.breaker]).toEqual([[], []]);
  },
);

describe('a refused field is remembered', () => {
  const REFUSED = jsonOf({ error: { param: 'stream_options', message: 'unknown' } }, 400);
  const hasIt = () => fixture.server.calls.map(({ body }) => 'stream_options' in (body as object));

  test('for that model only, and is tried again after hours', async () => {
    fixture.server.script(REFUSED, helloStream(), helloStream(), helloStream(), helloStream());
    await fixture.ask({ model: 'svc-plus' });
    await fixture.ask({ model: 'svc-max' });
    fixture.clock.nowMs += HOUR_MS;
    await fixture.ask({ model: 'svc-plus' });
    fixture.clock.nowMs += 6 * HOUR_MS;
    await fixture.ask({ model: 'svc-plus' });
    expect(hasIt()).toEqual([true, false, true, false, true]);
  });

  test('only where it helped: a refusal may mention a field for another reason', async () => {
    const other = jsonOf({ error: { code: 'InvalidParameter', message: 'The picture is broken' } }, 400);
    fixture.server.script(other, other, other, helloStream());
    const question = { thinking: 'high', tools: [TOOL] } as const;
    expect((await fixture.ask(question)).error).toMatchObject({ code: 'chat_bad_request' });
    await fixture.ask(question);
    const last = fixture.server.calls.at(-1)?.body as object;
    expect(Object.keys(last)).toEqual(expect.arrayContaining(['stream_options', 'thinking', 'tools']));
  });

  test('with tools omitted last if no field is named', async () => {
    const refused = jsonOf({ error: { message: 'Unknown parameter' } }, 400);
    fixture.server.script(refused, refused, helloStream());
    await fixture.ask({ thinking: 'high', tools: [TOOL] });
    expect(
      fixture.server.calls.map(({ body }) => ['thinking' in (body as object), 'tools' in (body as object)]),
    ).toEqual([
      [true, true],
      [false, true],
      [false, false],
    ]);
  });

  test('in the log, without the question or the answer', async () => {
    fixture.server.script(REFUSED, helloStream());
    await fixture.ask({});
    expect(fixture.lines.join('\n')).toMatch(/"fields":\["stream_options"\]/);
  });
});

test('a refusal for another reason is returned without a repeated request', async () => {
  fixture.server.script(jsonOf({ error: { message: 'The picture shows nothing' } }, 400), helloStream());
  expect((await fixture.ask({ thinking: 'low' })).error).toMatchObject({ code: 'chat_bad_request' });
  expect(fixture.server.calls).toHaveLength(1);
});

test('an engine that refuses one field after another is asked at most once per field', async () => {
  const refuse = (param: string) => jsonOf({ error: { param, message: `'${param}' is unknown` } }, 400);
  fixture.server.script(refuse('stream_options'), refuse('thinking'), refuse('tools'), refuse('tools'), helloStream());
  expect((await fixture.ask({ thinking: 'low', tools: [TOOL] })).error).toMatchObject({ code: 'chat_bad_request' });
  expect(fixture.server.calls).toHaveLength(4);
});

test.each([
  'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
  'Missing `reasoning_content` field in the assistant message at message index 2.',
])('reasoning is returned to an engine that requires it, and to no other: %s', async (message) => {
  const messages: ChatMessage[] = [
    { role: 'user', content: 'When?' },
    { role: 'assistant', content: '', toolCalls: [{ callId: 'c', name: 'clock', argumentsJson: '{}' }], thought: 'hm' },
    { role: 'tool', callId: 'c', content: 'noon' },
  ];
  fixture.server.script(
    jsonOf({ error: { message, type: 'invalid_request_error' } }, 400),
    helloStream(),
    helloStream(),
  );
  await fixture.ask({ model: 'svc-max', thinking: 'high', messages });
  await fixture.ask({ model: 'svc-max', thinking: 'high', messages });
  await fixture.ask({ model: 'svc-plus', thinking: 'high', messages });
  const told = fixture.server.calls.map(({ body }) => {
    const sent = body as { thinking?: object; messages: { reasoning_content?: string }[] };
    return [sent.messages[1]?.reasoning_content, sent.thinking];
  });
  const thinks = { type: 'enabled' };
  expect(told).toEqual([
    [undefined, thinks],
    ['hm', thinks],
    ['hm', thinks],
    [undefined, thinks],
  ]);
});

test('tools are sent if the messages contain tool calls, even if refused', async () => {
  fixture.server.script(jsonOf({ error: { message: 'does not support tools' } }, 400), helloStream());
  const messages: ChatMessage[] = [
    { role: 'user', content: 'When?' },
    { role: 'assistant', content: '', toolCalls: [{ callId: 'c', name: 'clock', argumentsJson: '{}' }] },
    { role: 'tool', callId: 'c', content: 'noon' },
  ];
  await fixture.ask({ tools: [TOOL], messages });
  expect(fixture.server.calls.map(({ body }) => 'tools' in (body as object))).toEqual([true, true]);
});
