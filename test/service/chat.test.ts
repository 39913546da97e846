import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { got } from 'got';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { API_KEY, NO_LIMITS, startTestService, type TestService } from './support.ts';
import { askChat, contentOf, streamChat } from './chat-client.ts';

let server: TestRedis;
let service: TestService;

beforeAll(async () => {
  server = await startTestRedis();
  service = await startTestService(server.redis, { chatLimits: NO_LIMITS });
});
afterAll(async () => {
  await service.close();
  await server.stop();
});

const user = (content: unknown) => ({ role: 'user', content });
const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Tells the weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'The city' } },
      required: ['city'],
    },
  },
};
/** 3 × 2 pixels. */
const GIF = `data:image/gif;base64,${Buffer.from('474946383961030002008000000000000000002c000000000300020000020284005b003b', 'hex').toString('base64')}`;

describe('2.1 request fields', () => {
  const body = { model: 'svc-max', messages: [user('hello')] };

  test.each([
    ['messages', { messages: undefined }],
    ['messages', { messages: [] }],
    ['messages', { messages: 'hello' }],
    ['messages[0].role', { messages: [{ role: 'developer', content: 'x' }] }],
    ['messages[0].content', { messages: [{ role: 'user' }] }],
    ['messages[0].content', { messages: [user(7)] }],
    ['messages[1].content', { messages: [user('x'), { role: 'assistant', content: null }] }],
    ['messages[0].content', { messages: [user([{ type: 'text', text: 'parts are for svc-plus' }])] }],
    ['model', { model: undefined }],
    ['model', { model: 5 }],
    ['stream', { stream: 'yes' }],
    ['temperature', { temperature: 1.01 }],
    ['temperature', { temperature: -0.01 }],
    ['temperature', { temperature: '0.5' }],
    ['top_p', { top_p: 1.01 }],
    ['top_p', { top_p: -1 }],
    ['thinking', { thinking: 'enabled' }],
    ['thinking.type', { thinking: { type: 'on' } }],
    ['reasoning_effort', { reasoning_effort: 'medium', thinking: { type: 'enabled' } }],
    ['reasoning_effort', { reasoning_effort: 'high' }],
    ['reasoning_effort', { reasoning_effort: 'high', thinking: { type: 'disabled' } }],
    ['reasoning_effort', { model: 'svc-plus', reasoning_effort: 'high', thinking: { type: 'enabled' } }],
    ['tools', { tools: {} }],
  ])('%s is refused with 400 that names it: %j', async (param, changes) => {
    const answer = await askChat(service, { ...body, ...changes });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      error: { message: expect.any(String), type: 'invalid_request_error', param, code: 'invalid_value' },
    });
  });

  test.each([
    ['bounds of the sampling fields', { temperature: 0, top_p: 1 }],
    ['the other bounds', { temperature: 1, top_p: 0 }],
    ['thinking with an effort on svc-max', { thinking: { type: 'enabled' }, reasoning_effort: 'max' }],
    [
      'unknown fields and those of the withdrawn web search',
      { web_search: { enable: true }, enable_search: true, search_options: 5, n: 'x' },
    ],
    [
      'a tool result',
      {
        messages: [
          user('x'),
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'c', content: '42' },
        ],
      },
    ],
    ['a system message', { messages: [{ role: 'system', content: 'Be brief.' }, user('hello')] }],
    ['100,000 letters', { messages: [user('a'.repeat(100_000))] }],
  ])('%s: accepted', async (_, changes) => {
    expect((await askChat(service, { ...body, ...changes })).status).toBe(200);
  });

  test('an unknown model is 404', async () => {
    const answer = await askChat(service, { ...body, model: 'gpt-0' });
    expect([answer.status, answer.body.error]).toEqual([
      404,
      expect.objectContaining({ param: 'model', code: 'model_not_found' }),
    ]);
  });
});

describe('2.2 tool declarations', () => {
  const declare = (changes: object) => ({ ...WEATHER, function: { ...WEATHER.function, ...changes } });
  test.each([
    ['tools[0].type', { ...WEATHER, type: 'plugin' }],
    ['tools[0].function', { type: 'function' }],
    ['tools[0].function.name', declare({ name: undefined })],
    ['tools[0].function.description', declare({ description: undefined })],
    ['tools[0].function.parameters', declare({ parameters: undefined })],
    ['tools[0].function.parameters.type', declare({ parameters: { type: 'string', properties: {} } })],
    ['tools[0].function.parameters.properties', declare({ parameters: { type: 'object' } })],
    [
      'tools[0].function.parameters.required',
      declare({ parameters: { type: 'object', properties: {}, required: 'city' } }),
    ],
  ])('%s', async (param, tool) => {
    const answer = await askChat(service, { model: 'svc-max', messages: [user('hello')], tools: [tool] });
    expect([answer.status, (answer.body.error as { param: string }).param]).toEqual([400, param]);
  });

  test.each([
    ['inside parameters', WEATHER],
    [
      'beside parameters',
      declare({
        parameters: { type: 'object', properties: { city: { type: 'string', description: 'c' } } },
        required: ['city'],
      }),
    ],
  ])('`required` %s is heeded', async (_, tool) => {
    const { body } = await askChat(service, {
      model: 'svc-plus',
      messages: [user('What is the weather in Beijing?')],
      tools: [tool],
    });
    expect(body.choices).toMatchObject([
      {
        finish_reason: 'tool_calls',
        message: {
          content: null,
          tool_calls: [
            {
              id: expect.any(String),
              type: 'function',
              function: { name: 'get_weather', arguments: '{"city":"Beijing"}' },
            },
          ],
        },
      },
    ]);
  });
});

describe('2.3 content parts', () => {
  test('an image is told by type and pixel size', async () => {
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: GIF } },
    ];
    expect(contentOf(await askChat(service, { model: 'svc-plus', messages: [user(content)] }))).toMatch(
      /GIF image of 3 × 2 pixels/,
    );
  });

  test.each([
    ['messages[0].content[0].type', { type: 'audio' }],
    ['messages[0].content[0].text', { type: 'text' }],
    ['messages[0].content[0].image_url', { type: 'image_url' }],
    ['messages[0].content[0].image_url.url', { type: 'image_url', image_url: { url: 'data:text/html;base64,AAAA' } }],
    ['messages[0].content[0].image_url.url', { type: 'image_url', image_url: { url: 'file:///etc/passwd' } }],
  ])('%s', async (param, part) => {
    const answer = await askChat(service, { model: 'svc-plus', messages: [user([part])] });
    expect([answer.status, (answer.body.error as { param: string }).param]).toEqual([400, param]);
  });

  test('bytes that are no image, and addresses, are not looked into', async () => {
    const parts = ['data:image/png;base64,AAAA', 'https://example.org/a.png'].map((url) => ({
      type: 'image_url',
      image_url: { url },
    }));
    expect(contentOf(await askChat(service, { model: 'svc-plus', messages: [user(parts)] }))).toMatch(
      /cannot read[\s\S]*do not open/,
    );
  });
});

describe('2.4 and 2.5 replies', () => {
  test('every field of a whole reply', async () => {
    const { body } = await askChat(service, { model: 'svc-plus', messages: [user('count to 3')] });
    expect(body).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: Math.floor(service.clock.ms / 1_000),
      model: 'svc-plus',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: '1 2 3', tool_calls: [] },
          finish_reason: 'stop',
          logprobs: null,
          stop_reason: null,
        },
      ],
      prompt_logprobs: null,
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    });
  });

  test('a stream of chunks: one token each, finish_reason on the last only, then [DONE]', async () => {
    const { chunks, lines } = await streamChat(service, { model: 'svc-max', messages: [user('count to 100')] });
    expect(lines.at(-1)).toBe('data: [DONE]');
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(
      Array.from({ length: 100 }, (_, index) => index + 1).join(' '),
    );
    expect(chunks).toHaveLength(101);
    expect(chunks.filter(({ choices }) => 'finish_reason' in (choices[0] ?? {}))).toEqual([chunks.at(-1)]);
    expect(chunks.at(-1)?.choices[0]).toEqual({ index: 0, delta: { content: '100' }, finish_reason: 'stop' });
    expect(new Set(chunks.map(({ id, object, model, created }) => `${id}|${object}|${model}|${created}`)).size).toBe(1);
  });

  test.each(['svc-plus', 'svc-max'])('thinking on %s comes before the text', async (model) => {
    const request = { model, messages: [user('count to 5')], thinking: { type: 'enabled' } };
    const { chunks } = await streamChat(service, request);
    const kinds = chunks.flatMap(({ choices }) => Object.keys(choices[0]?.delta ?? {}).filter((key) => key !== 'role'));
    expect(kinds.join(' ')).toMatch(/^content( reasoning_content)+( content){5}$/);
    const { body } = await askChat(service, request);
    expect(body.choices).toMatchObject([
      { message: { content: '1 2 3 4 5', reasoning_content: expect.stringMatching(/./) } },
    ]);
  });

  test('no reasoning unless thinking is on', async () => {
    for (const thinking of [undefined, { type: 'disabled' }]) {
      const { body } = await askChat(service, { model: 'svc-max', messages: [user('count to 5')], thinking });
      expect(JSON.stringify(body)).not.toContain('reasoning_content');
    }
  });

  test('a tool round as deltas, and the result told in the next answer', async () => {
    const messages: unknown[] = [user('What is the weather in Beijing?')];
    const { chunks } = await streamChat(service, { model: 'svc-max', messages, tools: [WEATHER] });
    const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(calls[0]).toMatchObject({
      index: 0,
      id: expect.any(String),
      type: 'function',
      function: { name: 'get_weather' },
    });
    expect(calls.map((call) => call.function.arguments).join('')).toBe('{"city":"Beijing"}');
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
    const call = {
      id: calls[0]?.id,
      type: 'function',
      function: { name: 'get_weather', arguments: '{"city":"Beijing"}' },
    };
    messages.push(
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: call.id, content: '21 degrees, sunny' },
    );
    expect(contentOf(await askChat(service, { model: 'svc-max', messages, tools: [WEATHER] }))).toContain(
      '21 degrees, sunny',
    );
  });

  test('usage as a last chunk when it is asked for', async () => {
    const request = { model: 'svc-max', messages: [user('count to 5')], stream_options: { include_usage: true } };
    const { chunks } = await streamChat(service, request);
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { completion_tokens: 5, prompt_tokens: expect.any(Number), total_tokens: expect.any(Number) },
    });
  });
});

describe('contract.md 5: keys, addresses, sizes', () => {
  test.each([
    ['without a key', undefined],
    ['with a wrong key', 'Bearer sk-nope'],
    ['with another scheme', `Basic ${API_KEY}`],
    ['with half a key', `Bearer ${API_KEY.slice(0, -1)}`],
  ])('401 %s', async (_, authorization) => {
    const headers = authorization === undefined ? {} : { authorization };
    for (const options of [{ method: 'POST' as const, json: {} }, {}]) {
      const path = 'json' in options ? 'chat/completions' : 'models';
      const answer = await got(`${service.url}/v1/${path}`, { ...options, headers, throwHttpErrors: false });
      expect([answer.statusCode, JSON.parse(answer.body)]).toEqual([
        401,
        { error: expect.objectContaining({ code: 'invalid_api_key' }) },
      ]);
    }
  });

  test('GET /v1/models lists both models', async () => {
    const answer = await got(`${service.url}/v1/models`, { headers: { authorization: `Bearer ${API_KEY}` } }).json<{
      object: string;
      data: { id: string }[];
    }>();
    expect([answer.object, answer.data.map(({ id }) => id)]).toEqual(['list', ['svc-plus', 'svc-max']]);
  });

  test.each(['embeddings', 'images/generations', 'rerank', 'audio/speech', '', 'chat'])(
    '/v1/%s is 404 with the error object',
    async (path) => {
      const answer = await got.post(`${service.url}/v1/${path}`, {
        json: {},
        headers: { authorization: `Bearer ${API_KEY}` },
        throwHttpErrors: false,
      });
      expect([answer.statusCode, JSON.parse(answer.body)]).toEqual([
        404,
        { error: { message: expect.any(String), type: 'not_found_error', param: null, code: 'unknown_address' } },
      ]);
    },
  );

  test('64 MiB is refused with 413', async () => {
    const answer = await askChat(service, { model: 'svc-max', messages: [user('a'.repeat(64 * 1_024 * 1_024))] });
    expect([answer.status, (answer.body.error as { code: string }).code]).toEqual([413, 'request_too_large']);
  });

  test.each([
    ['broken JSON', '{"model":', 'application/json'],
    ['a bare value', '5', 'application/json'],
    ['an empty body', '', 'application/json'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00]), 'application/json'],
    ['a form', 'a=b', 'application/x-www-form-urlencoded'],
    ['an unknown charset', '{}', 'application/json; charset=klingon'],
  ])('%s is 400', async (_, body, contentType) => {
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': contentType };
    const answer = await got.post(`${service.url}/v1/chat/completions`, { body, headers, throwHttpErrors: false });
    expect([answer.statusCode, JSON.parse(answer.body)]).toEqual([
      400,
      { error: expect.objectContaining({ type: 'invalid_request_error' }) },
    ]);
  });
});
