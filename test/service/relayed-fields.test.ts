import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources';
import { createModelCatalog } from '../../src/shared/models/model-catalog.ts';
import { parseModelsFile } from '../../src/shared/models/models-file.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { begin, DONE, engineChunk, engineReply, startEngine, type StandInEngine } from './stand-in-engine.ts';
import { API_KEY, NO_LIMITS, startTestService, type TestService } from './support.ts';

/** A citation as engines with web search add it, with a field beyond OpenAI's own type. */
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

/**
 * Every standard field, including those to relay, except the few that name the model and the messages or control streaming.
 */
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

test.each([false, true])('every standard field reaches the engine unchanged (streamed: %j)', async (stream) => {
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

const named = (more: object) => [{ type: 'function', function: { name: 'find', ...more } }];
const schema = (parameters: object) => named({ description: 'Finds', parameters });

test.each<[what: string, tools: object[]]>([
  ['without description', named({ parameters: SCHEMA })],
  ['without parameters', named({ description: 'Finds' })],
  ['with only a name', named({})],
  ['with an empty schema', schema({})],
  ['without properties', schema({ type: 'object' })],
  ['with a root anyOf', schema({ anyOf: [SCHEMA, { type: 'object' }] })],
  ['with properties of any form', schema({ type: 'object', properties: { a: true, b: { $ref: '#/$defs/b' } } })],
  ['with a type in another spelling', schema({ type: ['object', 'null'], properties: {} })],
  ['of the type custom', [{ type: 'custom', custom: { name: 'run', format: { type: 'text' } } }]],
])('a tool %s reaches the engine unchanged [relayed-fields]', async (_, tools) => {
  expect((await ask({ model: 'any', messages: MESSAGES, tools })).status).toBe(200);
  expect(lastBody()).toMatchObject({ tools });
  expect(lastBody()?.['tools']).toEqual(tools);
});

test('`required` next to the parameters is moved inside them for the engine', async () => {
  const tools = named({ parameters: { type: 'object', properties: { a: {} } }, required: ['a'] });
  expect((await ask({ model: 'any', messages: MESSAGES, tools })).status).toBe(200);
  expect(lastBody()).toMatchObject({ tools: named({ parameters: { required: ['a'] } }) });
});

test.each<[what: string, message: object]>([
  ['a file', { role: 'user', content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:;base64,AA' } }] }],
  ['audio', { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }] }],
  ['a refusal', { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }],
  ['no content', { role: 'assistant', content: null, refusal: 'No.' }],
  [
    'a call of a custom tool',
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: '1', type: 'custom', custom: { name: 'run', input: 'x' } }],
    },
  ],
])('a message with %s reaches the engine unchanged', async (_, message) => {
  expect((await ask({ model: 'any', messages: [message, ...MESSAGES] })).status).toBe(200);
  expect(lastBody()).toMatchObject({ messages: [message, ...MESSAGES] });
});

test.each<[what: string, fields: object, param: string]>([
  ['a tool of an unknown type', { tools: [{ type: 'mcp', mcp: {} }] }, 'tools[0].type'],
  ['a tool that is not an object', { tools: ['find'] }, 'tools[0]'],
  ['a tool without a name', { tools: named({ name: '' }) }, 'tools[0].function.name'],
  ['a schema that is not an object', { tools: named({ parameters: 'x' }) }, 'tools[0].function.parameters'],
  [
    'a file at an address',
    { messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: 'https://example.org/a.pdf' } }] }] },
    'messages[0].content[0].file.file_data',
  ],
  [
    'a part of an unknown type',
    { messages: [{ role: 'user', content: [{ type: 'video_url', video_url: { url: 'https://example.org/a' } }] }] },
    'messages[0].content[0].type',
  ],
  ['a question without content', { messages: [{ role: 'user', content: null }] }, 'messages[0].content'],
])('the service refuses %s and names it [relayed-fields]', async (_, fields, param) => {
  const count = engine.requests.length;
  const answer = await ask({ model: 'any', messages: MESSAGES, ...fields });
  expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'invalid_value', param } }]);
  expect(engine.requests.length).toBe(count);
});

test('fields that the caller left out are not added', async () => {
  await client.chat.completions.create({ model: 'any', messages: MESSAGES });
  expect(lastBody()).toEqual({ model: 'engine/any', messages: MESSAGES, stream: false });
});

test('citations, annotations and log probabilities of an answer are relayed, complete and streamed', async () => {
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

/** Engine switches that multiply the cost of an answer, run as code, or access the engine's network. */
const SWITCHES: Record<string, unknown> = {
  best_of: 500,
  chat_template: '{{ 7 * 7 }}',
  chat_template_kwargs: { enable_thinking: true, documents: ['x'] },
  documents: [{ text: 'x' }],
  extra_body: { best_of: 9 },
  grammar: 'root ::= "a"',
  guided_grammar: 'root ::= "a"',
  guided_json: {},
  guided_regex: '(a+)+$',
  ignore_eos: true,
  kv_transfer_params: { remote_host: '169.254.169.254' },
  logits_processors: [{ qualname: 'os.system' }],
  mm_processor_kwargs: { num_crops: 10_000 },
  options: { num_ctx: 1_000_000 },
  plugins: [{ id: 'web' }],
  priority: -1,
  prompt_logprobs: 20,
  slot_id: 1,
  structured_outputs: { regex: '(a+)+$' },
  use_beam_search: true,
  web_search_options: {},
};

test.each(Object.entries(SWITCHES))(
  'the service does not relay %s at any place of a request [relayed-fields]',
  async (name, value) => {
    const spread = { [name]: value };
    const image = {
      type: 'image_url',
      image_url: { url: 'data:image/png;base64,AAAA', detail: 'low', ...spread },
      ...spread,
    };
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'hi', ...spread }, image], ...spread }];
    const tools = [{ ...TOOL, ...spread, function: { ...TOOL.function, ...spread } }];
    const answer = await ask({ model: 'any', messages, tools, temperature: 0.5, ...spread });
    expect(answer.status).toBe(200);
    expect(JSON.stringify(lastBody())).not.toContain(name);
    expect(lastBody()).toMatchObject({
      temperature: 0.5,
      messages: [{ content: [{}, { image_url: { detail: 'low' } }] }],
    });
  },
);

test.each<[field: string, value: unknown, param: string]>([
  ['n', 5, 'n'],
  ['n', 0, 'n'],
  ['n', 1.5, 'n'],
  ['n', '500', 'n'],
  ['response_format', { type: 'structural_tag' }, 'response_format.type'],
  ['response_format', { type: 'regex', regex: '(a+)+$' }, 'response_format.type'],
])('the service refuses %s = %j and names it [relayed-fields]', async (field, value, param) => {
  const count = engine.requests.length;
  const answer = await ask({ model: 'any', messages: MESSAGES, [field]: value });
  expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'invalid_value', param } }]);
  expect(engine.requests.length).toBe(count);
});

test.each(['http://169.254.169.254/latest/meta-data/', 'https://example.org/a.png', 'HTTP://localhost:1/'])(
  'the service refuses an image at %s unless the operator allows addresses [relayed-fields]',
  async (url) => {
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
    const count = engine.requests.length;
    const refused = await ask({ model: 'any', messages });
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param: 'messages[0].content' } }]);
    expect(engine.requests.length).toBe(count);
  },
);

describe('a service whose operator allows more fields', () => {
  test('relays further fields and addresses of images [relayed-fields]', async () => {
    const allowing = await startTestService(server.redis, {
      models: createModelCatalog(parseModelsFile('[{"name":"any","images":true}]')),
      upstream: { url: engine.url, models: {}, relayedFields: ['guided_json'], imageAddresses: true },
    });
    const content = [{ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }];
    const body = { model: 'any', messages: [{ role: 'user', content }], guided_json: { type: 'object' }, best_of: 2 };
    expect((await ask(body, allowing.url)).status).toBe(200);
    expect(lastBody()).toEqual({
      model: 'any',
      messages: [{ role: 'user', content }],
      guided_json: { type: 'object' },
      stream: false,
    });
    await allowing.close();
  });

  test('counts each of several answers as a request of the key [relayed-fields]', async () => {
    const limited = await startTestService(server.redis, {
      chatLimits: { requestsPer10Sec: 6, maxConcurrent: 100 },
      models: createModelCatalog(parseModelsFile('[{"name":"any"}]')),
      upstream: { url: engine.url, models: {} },
    });
    const statuses: number[] = [];
    for (const n of [4, 1, 4, 1])
      statuses.push((await ask({ model: 'any', messages: MESSAGES, n }, limited.url)).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
    await limited.close();
  });
});

function ask(body: object, url = service.url): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${API_KEY}` };
  return fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
}
