import { afterAll, beforeAll, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources';
import { createModelCatalog } from '../../src/models/model-catalog.ts';
import { parseModelsFile } from '../../src/models/models-file.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { begin, DONE, engineChunk, engineReply, startEngine, type StandInEngine } from './stand-in-engine.ts';
import { API_KEY, NO_LIMITS, startTestService, type TestService } from './support.ts';

/** A citation as engines that search add it, beside what OpenAI's own type has. */
const ANNOTATIONS = [
  { type: 'url_citation', url_citation: { url: 'https://a.example/1', title: 'A', start_index: 0, end_index: 4 } },
];
const CITATIONS = ['https://a.example/1'];
const LOGPROBS = { content: [{ token: 'Yes', logprob: -0.1, bytes: null, top_logprobs: [] }], refusal: null };

let server: TestRedis;
let engine: StandInEngine;
let service: TestService;
let client: OpenAI;

beforeAll(async () => {
  server = await startTestRedis();
  engine = await startEngine((response) => {
    const others = { citations: CITATIONS, system_fingerprint: 'fp_1', service_tier: 'default' };
    if (engine.requests.at(-1)?.body['stream'] !== true) {
      const choice = { index: 0, message: { role: 'assistant', content: 'Yes [1]', annotations: ANNOTATIONS } };
      const choices = [{ ...choice, finish_reason: 'stop', logprobs: LOGPROBS }];
      begin(response, 'application/json').end(JSON.stringify(engineReply({}, { choices, ...others })));
      return;
    }
    const pieces = [
      engineChunk({ role: 'assistant', content: 'Yes [1]' }, null, others),
      engineChunk({ annotations: ANNOTATIONS }),
      engineChunk({}, 'stop'),
    ];
    begin(response).end(pieces.join('') + DONE);
  });
  service = await startTestService(server.redis, {
    chatLimits: NO_LIMITS,
    models: createModelCatalog(parseModelsFile('[{"name":"any","upstream":"engine/any","images":true}]')),
    upstream: { url: engine.url, models: {} },
  });
  client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: API_KEY, maxRetries: 0 });
});
afterAll(async () => {
  await service.close();
  await engine.stop();
  await server.stop();
});

const TOOL = {
  type: 'function' as const,
  function: {
    name: 'find',
    description: 'Finds',
    strict: true,
    parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  },
};
const SCHEMA = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };

/** Every field of the standard, those that are to go among them, but the few that say who is asked what and how it comes. */
const STANDARD: object = {
  frequency_penalty: 0.5,
  logit_bias: { '50256': -100 },
  logprobs: true,
  max_completion_tokens: 300,
  max_tokens: 200,
  metadata: { team: 'library' },
  modalities: ['text'],
  n: 1,
  parallel_tool_calls: false,
  prediction: { type: 'content', content: 'Yes' },
  presence_penalty: -0.5,
  prompt_cache_key: 'k',
  reasoning_effort: 'low',
  response_format: { type: 'json_schema', json_schema: { name: 's', strict: true, schema: SCHEMA } },
  safety_identifier: 's-1',
  seed: 42,
  service_tier: 'auto',
  stop: ['END', '###'],
  store: false,
  temperature: 1.8,
  tools: [TOOL],
  top_logprobs: 2,
  top_p: 0.9,
  user: 'u-1',
  verbosity: 'low',
};

const MESSAGES: ChatCompletionCreateParamsNonStreaming['messages'] = [
  { role: 'developer', content: 'Be brief.' },
  { role: 'user', name: 'zhang', content: [{ type: 'text', text: 'Is it so?' }] },
];

const lastBody = () => engine.requests.at(-1)?.body;

test.each([false, true])('every standard field reaches the engine as it was written (streamed: %j)', async (stream) => {
  const request = { model: 'any', messages: MESSAGES, ...STANDARD, tool_choice: 'required' as const };
  if (stream) {
    const options = { include_usage: true, include_obfuscation: false };
    for await (const _ of await client.chat.completions.create({ ...request, stream, stream_options: options }));
    expect(lastBody()).toEqual({ ...request, model: 'engine/any', stream: true, stream_options: options });
  } else {
    await client.chat.completions.create(request);
    expect(lastBody()).toEqual({ ...request, model: 'engine/any', stream: false });
  }
});

test.each<[form: string, choice: NonNullable<ChatCompletionCreateParamsNonStreaming['tool_choice']>]>([
  ['auto', 'auto'],
  ['none', 'none'],
  ['required', 'required'],
  ['one function', { type: 'function', function: { name: 'find' } }],
  [
    'some functions',
    {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'find' } }] },
    },
  ],
])('tool_choice reaches the engine in each of its forms: %s', async (_form, choice) => {
  await client.chat.completions.create({ model: 'any', messages: MESSAGES, tools: [TOOL], tool_choice: choice });
  expect(lastBody()).toMatchObject({ tool_choice: choice, tools: [TOOL] });
});

test('nothing is added that the caller left out', async () => {
  await client.chat.completions.create({ model: 'any', messages: MESSAGES });
  expect(lastBody()).toEqual({ model: 'engine/any', messages: MESSAGES, stream: false });
});

test('citations, annotations and token likelihoods of an answer come through, whole and streamed', async () => {
  const reply = await client.chat.completions.create({ model: 'any', messages: MESSAGES });
  expect(reply).toMatchObject({
    model: 'any',
    citations: CITATIONS,
    system_fingerprint: 'fp_1',
    service_tier: 'default',
  });
  expect(reply.choices[0]).toMatchObject({ message: { annotations: ANNOTATIONS }, logprobs: LOGPROBS });
  const chunks = [];
  for await (const chunk of await client.chat.completions.create({ model: 'any', messages: MESSAGES, stream: true }))
    chunks.push(chunk);
  expect(chunks[0]).toMatchObject({ model: 'any', citations: CITATIONS, service_tier: 'default' });
  expect(chunks.map(({ choices }) => (choices[0]?.delta as { annotations?: unknown }).annotations)).toContainEqual(
    ANNOTATIONS,
  );
});
