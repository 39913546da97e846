import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import type { ChatCompletionCreateParamsNonStreaming, ChatCompletionMessageParam } from 'openai/resources';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { API_KEY, startTestService, type TestService, type TestServiceOptions } from './support.ts';
import { startEngineStandIn, type EngineStandIn } from './engine-stand-in.ts';
import { GIF } from './chat-bodies.ts';

let server: TestRedis;
let engine: EngineStandIn;

beforeAll(async () => {
  server = await startTestRedis();
  engine = await startEngineStandIn();
});
afterAll(async () => {
  await engine.close();
  await server.stop();
});

const clientOf = (service: TestService, options: { apiKey?: string; maxRetries?: number } = {}) =>
  new OpenAI({ baseURL: `${service.url}/v1`, apiKey: API_KEY, maxRetries: 0, ...options });

const COUNT: ChatCompletionCreateParamsNonStreaming = {
  model: 'svc-max',
  messages: [{ role: 'user', content: 'count to 3' }],
};
const WEATHER_QUESTION: ChatCompletionMessageParam = { role: 'user', content: 'What is the weather in Beijing?' };
const PARAMETERS = {
  type: 'object',
  properties: { city: { type: 'string', description: 'The city' } },
  required: ['city'],
};
const WEATHER = { name: 'get_weather', description: 'Tells the weather of a city', parameters: PARAMETERS };
/** The client sends a field that its types do not know unchanged. */
const THINKING = { ...COUNT, thinking: { type: 'enabled' }, reasoning_effort: 'high' } as typeof COUNT;

interface Reasoning {
  reasoning_content?: string;
}

describe.each([
  ['the built-in model', () => ({})],
  ['an upstream engine', () => ({ upstream: { url: engine.url, models: {} } })],
])('the official openai client, unchanged, with %s', (name, options: () => TestServiceOptions) => {
  let service: TestService;
  let client: OpenAI;

  beforeAll(async () => {
    service = await startTestService(server.redis, options());
    client = clientOf(service);
  });
  afterAll(() => service.close());

  test('gets a complete reply [reply]', async () => {
    const reply = await client.chat.completions.create({ ...COUNT, temperature: 0.3, top_p: 0.9 });
    expect(reply.choices[0]?.message.content).toBe('1 2 3');
    expect([reply.object, reply.model, reply.choices[0]?.finish_reason]).toEqual([
      'chat.completion',
      'svc-max',
      'stop',
    ]);
    expect(reply.usage?.total_tokens).toBeGreaterThan(3);
  });

  test('gets a streamed reply [chunk]', async () => {
    const said: string[] = [];
    const finished: string[] = [];
    for await (const { object, model, choices } of await client.chat.completions.create({ ...COUNT, stream: true })) {
      expect([object, model]).toEqual(['chat.completion.chunk', 'svc-max']);
      said.push(choices[0]?.delta.content ?? '');
      // The service leaves the field out until the end. The client's types expect null there.
      if (choices[0]?.finish_reason as string | undefined) finished.push(String(choices[0]?.finish_reason));
    }
    expect([said.join(''), finished]).toEqual(['1 2 3', ['stop']]);
  });

  test('gets usage in a last chunk, by stream_options [reply]', async () => {
    const stream = client.chat.completions.stream({ ...COUNT, stream: true, stream_options: { include_usage: true } });
    const { usage, choices } = await stream.finalChatCompletion();
    expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
    expect(usage?.total_tokens).toBeGreaterThan(3);
    expect(choices[0]?.message.content).toBe('1 2 3');
  });

  test('gets a tool call in a complete reply [tools]', async () => {
    const reply = await client.chat.completions.create({
      model: 'svc-max',
      messages: [WEATHER_QUESTION],
      tools: [{ type: 'function', function: WEATHER }],
    });
    const { message, finish_reason: finish } = reply.choices[0] ?? {};
    expect([finish, message?.content]).toEqual(['tool_calls', null]);
    expect(message?.tool_calls).toEqual([
      {
        id: expect.stringMatching(/./),
        type: 'function',
        function: { name: 'get_weather', arguments: '{"city":"Beijing"}' },
      },
    ]);
  });

  test('assembles a tool call from deltas [tools]', async () => {
    const stream = client.chat.completions.stream({
      model: 'svc-max',
      messages: [WEATHER_QUESTION],
      tools: [{ type: 'function', function: WEATHER }],
    });
    const { choices } = await stream.finalChatCompletion();
    expect(choices[0]?.finish_reason).toBe('tool_calls');
    expect(choices[0]?.message.tool_calls).toMatchObject([
      { type: 'function', function: { name: 'get_weather', arguments: '{"city":"Beijing"}' } },
    ]);
  });

  test.each([false, true])(
    'runs a conversation with tools over several rounds (streamed: %j) [chat-completions]',
    async (stream) => {
      const asked: unknown[] = [];
      const tool = {
        type: 'function' as const,
        function: {
          ...WEATHER,
          parse: (text: string) => JSON.parse(text) as { city: string },
          function: (arguments_: { city: string }) => {
            asked.push(arguments_);
            return `sunny in ${arguments_.city}`;
          },
        },
      };
      const request = { model: 'svc-max', messages: [WEATHER_QUESTION], tools: [tool] };
      const runner = stream
        ? client.chat.completions.runTools({ ...request, stream: true })
        : client.chat.completions.runTools(request);
      expect(await runner.finalContent()).toContain('sunny in Beijing');
      expect(asked).toEqual([{ city: 'Beijing' }]);
      expect(runner.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    },
  );

  test('sends an image [images]', async () => {
    const content = [
      { type: 'text' as const, text: 'What is this?' },
      { type: 'image_url' as const, image_url: { url: GIF, detail: 'auto' as const } },
    ];
    const reply = await client.chat.completions.create({ model: 'svc-plus', messages: [{ role: 'user', content }] });
    expect(reply.choices[0]?.message.content).toContain('3 × 2 pixels');
  });

  test('sends thinking as an extra body field, complete and streamed [request-fields]', async () => {
    const reply = await client.chat.completions.create(THINKING);
    expect((reply.choices[0]?.message as Reasoning).reasoning_content).toMatch(/./);
    let thought = '';
    for await (const { choices } of await client.chat.completions.create({ ...THINKING, stream: true }))
      thought += (choices[0]?.delta as Reasoning).reasoning_content ?? '';
    expect(thought).toBe((reply.choices[0]?.message as Reasoning).reasoning_content);
    const plain = await client.chat.completions.create(COUNT);
    expect(plain.choices[0]?.message).not.toHaveProperty('reasoning_content');
  });

  test('lists the models by GET /v1/models', async () => {
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toEqual(['svc-plus', 'svc-max']);
  });

  test('frees its slot when it aborts in the middle of a stream', async () => {
    const narrow = await startTestService(server.redis, {
      ...options(),
      chatLimits: { requestsPer10Sec: 1_000, maxConcurrent: 1 },
      builtInPace: { tokensPerSec: 200 },
    });
    const patient = clientOf(narrow);
    const long = {
      model: 'svc-max',
      stream: true as const,
      messages: [{ role: 'user' as const, content: 'count to 5000' }],
    };
    const stream = await patient.chat.completions.create(long);
    await expect(patient.chat.completions.create(COUNT)).rejects.toThrow(OpenAI.RateLimitError);
    for await (const { choices } of stream) if (choices[0]?.delta.content) break;
    await sleep(200);
    const reply = await patient.chat.completions.create(COUNT);
    expect(reply.choices[0]?.message.content).toBe('1 2 3');
    if (name === 'an upstream engine') expect(engine.open()).toBe(0);
    await narrow.close();
  });
});

describe('typed errors of the official openai client [errors]', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(server.redis);
  });
  afterAll(() => service.close());

  const ask = (changes: object, options: Parameters<typeof clientOf>[1] = {}) =>
    clientOf(service, options)
      .chat.completions.create({ ...COUNT, ...changes })
      .then(
        () => undefined,
        (error: unknown) => error,
      );

  test.each<[type: string, class_: new (...given: never[]) => Error, changes: object, fields: object]>([
    [
      'BadRequestError with param',
      OpenAI.BadRequestError,
      { temperature: 2 },
      {
        status: 400,
        param: 'temperature',
        code: 'invalid_value',
        type: 'invalid_request_error',
        message: '400 temperature must be a number from 0 to 1',
      },
    ],
    [
      'BadRequestError in a stream',
      OpenAI.BadRequestError,
      { messages: [], stream: true },
      { status: 400, param: 'messages' },
    ],
    [
      'NotFoundError',
      OpenAI.NotFoundError,
      { model: 'gpt-0' },
      { status: 404, param: 'model', code: 'model_not_found' },
    ],
    [
      'APIError 413',
      OpenAI.APIError,
      { user: 'a'.repeat(33 * 1_024 * 1_024) },
      { status: 413, code: 'request_too_large' },
    ],
  ])('%s', async (_, class_, changes, fields) => {
    const error = await ask(changes);
    expect(error).toBeInstanceOf(class_);
    expect(error).toMatchObject(fields);
  });

  test('include AuthenticationError', async () => {
    const error = await ask({}, { apiKey: 'sk-nope' });
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: 'invalid_api_key', type: 'authentication_error' });
  });

  test('include NotFoundError for an endpoint that does not exist', async () => {
    const embedding = clientOf(service).embeddings.create({ model: 'svc-max', input: 'x' });
    await expect(embedding).rejects.toThrow(OpenAI.NotFoundError);
  });

  test('include RateLimitError with Retry-After, which the client follows when retries are enabled', async () => {
    const narrow = await startTestService(server.redis, {
      chatLimits: { requestsPer10Sec: 1_000, maxConcurrent: 1 },
      builtInPace: { tokensPerSec: 200 },
    });
    const long = {
      model: 'svc-max',
      stream: true as const,
      messages: [{ role: 'user' as const, content: 'count to 150' }],
    };
    const stream = await clientOf(narrow).chat.completions.create(long);
    const refused: unknown = await clientOf(narrow)
      .chat.completions.create(COUNT)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(OpenAI.RateLimitError);
    expect((refused as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after')).toBe('1');
    const again = clientOf(narrow, { maxRetries: 1 }).chat.completions.create(COUNT);
    for await (const _ of stream);
    expect((await again).choices[0]?.message.content).toBe('1 2 3');
    await narrow.close();
  });

  test('include APIError 503 for an unreachable engine, as InternalServerError of the client', async () => {
    const away = await startTestService(server.redis, { upstream: { url: 'http://127.0.0.1:9', models: {} } });
    await expect(clientOf(away).chat.completions.create(COUNT)).rejects.toThrow(OpenAI.InternalServerError);
    await away.close();
  });
});
