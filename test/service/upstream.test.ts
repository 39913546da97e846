import { describe, expect, test } from '@jest/globals';
import { askChat, streamChat } from './chat-client.ts';
import { begin, DONE, engineChunk, engineReply, stream } from './stand-in-engine.ts';
import { ENGINE_KEY, HELLO, pairs } from './upstream-support.ts';

const start = pairs();
const TOOL = {
  type: 'function',
  function: { name: 'f', description: 'd', parameters: { type: 'object', properties: {}, required: [] } },
};
const IMAGE = { type: 'image_url', image_url: { url: 'https://example.org/a.png' } };

describe('the request to the engine', () => {
  test("has the upstream model name, the upstream key and the caller's fields, without the withdrawn search", async () => {
    const { engine, service } = await start((response) => {
      begin(response, 'application/json').end(JSON.stringify(engineReply({ content: 'Hi' })));
    });
    await askChat(service, { ...HELLO, temperature: 0.2, web_search: true, user: 'secret-person' });
    expect(engine.requests).toEqual([
      expect.objectContaining({
        authorization: `Bearer ${ENGINE_KEY}`,
        body: {
          model: 'qwen3:8b',
          messages: [{ role: 'user', content: 'hello' }],
          stream: false,
          temperature: 0.2,
          top_p: 0.95,
          user: 'secret-person',
        },
      }),
    ]);
  });

  test('has thinking, effort, tools and usage as requested', async () => {
    const { engine, service } = await start(stream(engineChunk({ content: 'Hi' }, 'stop'), DONE));
    await streamChat(service, {
      ...HELLO,
      thinking: { type: 'enabled' },
      reasoning_effort: 'max',
      tools: [TOOL],
      tool_choice: { type: 'function', function: { name: 'f' } },
      stream_options: { include_usage: true },
    });
    expect(engine.requests[0]?.body).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
      thinking: { type: 'enabled' },
      reasoning_effort: 'max',
      tools: [TOOL],
      tool_choice: { type: 'function', function: { name: 'f' } },
    });
  });

  test('uses the same connection for consecutive streams', async () => {
    const { engine, service } = await start((response) => {
      begin(response).write(engineChunk({ content: 'Hi' }, 'stop') + DONE);
      // The end arrives separately, after the client has received [DONE].
      setTimeout(() => response.end(), 20);
    });
    for (let round = 0; round < 3; round += 1) {
      await streamChat(service, HELLO);
      await engine.requests[round]?.closed;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(new Set(engine.requests.map(({ socketPort }) => socketPort)).size).toBe(1);
  });
});

describe('additional fields of the engine', () => {
  const extra = { prompt_logprobs: null, system_fingerprint: 'fp', service: { deep: [1, { x: null }] } };

  test("are kept in a complete reply: top level, choice, message, usage; ids stay, and the model name is the service's", async () => {
    const reply = engineReply({ content: 'Hi', refusal: null }, { ...extra, usage: { total_tokens: 3, details: {} } });
    const { service } = await start((response) => {
      begin(response, 'application/json').end(JSON.stringify(reply));
    });
    expect((await askChat(service, HELLO)).body).toEqual({ ...reply, model: 'svc-max' });
  });

  test('are kept in a stream: top level, choice, delta, logprobs and the usage chunk', async () => {
    const choice = { index: 0, delta: { content: '你', mark: 7 }, logprobs: { content: [] }, token_ids: [5] };
    const { service } = await start(
      stream(
        engineChunk({}, null, { ...extra, choices: [choice] }),
        engineChunk({ content: '!' }, 'stop'),
        engineChunk({}, null, { choices: [], usage: { total_tokens: 3 } }),
        DONE,
      ),
    );
    const { chunks } = await streamChat(service, { ...HELLO, stream_options: { include_usage: true } });
    expect(chunks[0]).toEqual({
      id: 'e1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'svc-max',
      choices: [choice],
      ...extra,
    });
    expect(chunks.at(-1)).toMatchObject({ model: 'svc-max', choices: [], usage: { total_tokens: 3 } });
  });

  test.each([
    ['null on each chunk', [null, null, 'stop', null]],
    ['empty on each chunk', ['', '', 'stop', '']],
    ['repeated with the usage', [null, null, 'stop', 'stop']],
  ])('include finish_reason on the last content chunk only, if the engine sends it %s [chunk]', async (_, reasons) => {
    const { service } = await start(stream(...reasons.map((reason) => engineChunk({ content: 'x' }, reason)), DONE));
    const { chunks } = await streamChat(service, HELLO);
    expect(chunks.map(({ choices }) => choices[0])).toEqual([
      { index: 0, delta: { content: 'x' } },
      { index: 0, delta: { content: 'x' } },
      { index: 0, delta: { content: 'x' }, finish_reason: 'stop' },
      // A repeated last chunk adds nothing.
      { index: 0, delta: { content: '' } },
    ]);
  });
});

describe('an engine with limited abilities', () => {
  test.each([
    ['Ollama', 400, { tools: [TOOL] }, 'tools', { error: { message: 'gemma3:1b does not support tools' } }],
    [
      'vLLM',
      400,
      { tools: [TOOL] },
      'tools',
      { message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set' },
    ],
    ['llama.cpp', 500, { tools: [TOOL] }, 'tools', { error: { message: 'tools param requires --jinja flag' } }],
    [
      'a strict engine',
      422,
      { thinking: { type: 'disabled' } },
      'thinking',
      { detail: [{ type: 'extra_forbidden', loc: ['body', 'thinking'], msg: 'Extra inputs are not permitted' }] },
    ],
    [
      'OpenAI',
      400,
      { thinking: { type: 'enabled' }, reasoning_effort: 'max' },
      'reasoning_effort',
      { error: { message: "Unsupported value: 'reasoning_effort'", param: 'reasoning_effort' } },
    ],
    [
      'vLLM',
      400,
      { model: 'svc-plus', messages: [HELLO.messages[0], { role: 'user', content: [IMAGE] }] },
      'messages[1].content',
      { message: 'qwen3:8b is not a multimodal model' },
    ],
    [
      'llama.cpp',
      500,
      { model: 'svc-plus', messages: [{ role: 'user', content: [IMAGE] }] },
      'messages[0].content',
      { error: { message: 'image input is not supported - hint: you may need to provide the mmproj' } },
    ],
  ])('causes 400 that names the field (%s, status %d)', async (_, status, changes, param, words) => {
    const { service } = await start((response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(words));
    });
    for (const isStream of [false, true]) {
      const answer = await askChat(service, { ...HELLO, ...changes, stream: isStream });
      expect([answer.status, answer.body.error]).toEqual([
        400,
        expect.objectContaining({ param, code: 'invalid_value', type: 'invalid_request_error' }),
      ]);
    }
  });

  test.each([
    ['no field is named', 400, { tools: [TOOL] }, 'something is not supported', 400, 'engine_refused'],
    ['the field was not in the request', 400, {}, 'this does not support tools', 400, 'engine_refused'],
    ['a field is named for another reason', 400, { tools: [TOOL] }, 'I ran out of tools', 400, 'engine_refused'],
    ['it crashed', 500, { tools: [TOOL] }, 'tools broke', 503, 'unavailable'],
  ])('causes no error about a field if %s', async (_, engineStatus, changes, words, status, code) => {
    const { service } = await start((response) => void response.writeHead(engineStatus).end(words));
    const answer = await askChat(service, { ...HELLO, ...changes });
    expect([answer.status, answer.body.error]).toEqual([status, expect.objectContaining({ code, param: null })]);
  });

  test('may answer a request for thinking without reasoning', async () => {
    const { service } = await start(stream(engineChunk({ content: 'Hi' }, 'stop'), DONE));
    const { chunks, lines } = await streamChat(service, { ...HELLO, thinking: { type: 'enabled' } });
    expect([chunks[0]?.choices[0]?.delta, lines.at(-1)]).toEqual([{ content: 'Hi' }, 'data: [DONE]']);
  });
});

describe('statuses of the engine', () => {
  test.each([
    [400, 400, 'engine_refused'],
    [401, 503, 'unavailable'],
    [403, 503, 'unavailable'],
    [404, 503, 'unavailable'],
    [413, 413, 'request_too_large'],
    [429, 429, 'rate_limit_exceeded'],
    [500, 503, 'unavailable'],
    [302, 503, 'unavailable'],
  ])("of %d become %d %s without the engine's text", async (engineStatus, status, code) => {
    const { service } = await start((response) => {
      response.writeHead(engineStatus, { 'retry-after': '7' });
      response.end(`{"error":{"message":"key ${ENGINE_KEY} of ACME is bad"}}`);
    });
    for (const isStream of [false, true]) {
      const answer = await askChat(service, { ...HELLO, stream: isStream });
      expect([answer.status, (answer.body.error as { code: string }).code]).toEqual([status, code]);
      if (status === 429 || status === 503) expect(answer.headers['retry-after']).toBe('7');
      expect(answer.headers['www-authenticate']).toBeUndefined();
      expect(JSON.stringify(answer.body) + service.logLines.join()).not.toMatch(/sk-upstream|ACME/);
    }
  });

  test.each([401, 403, 404])('of %d are logged as a fault of the settings', async (status) => {
    const { service } = await start((response) => void response.writeHead(status).end());
    await askChat(service, HELLO);
    const faults = service.logLines.map((line) => JSON.parse(line) as { level: string; error?: { message: string } });
    expect(faults.filter(({ level }) => level === 'error').map(({ error }) => error?.message)).toEqual([
      `The engine behind this service cannot answer (status ${status})`,
    ]);
  });

  test.each([
    ['seconds', '30', '30'],
    ['a fraction', '0.2', '1'],
    ['a date', new Date(1_800_000_000_000 + 40_000).toUTCString(), '40'],
    ['a date in the past', new Date(1_700_000_000_000).toUTCString(), '1'],
    ['a year', '31536000', '3600'],
    ['nonsense', 'soon', '1'],
    ['nothing', undefined, '1'],
  ])('of 429 with Retry-After as %s (%s) are reported as %s', async (_, given, told) => {
    const { service } = await start((response) => {
      response.writeHead(429, given === undefined ? {} : { 'retry-after': given }).end();
    });
    const answer = await askChat(service, HELLO);
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, told]);
  });

  test('are reported even if the refusal never ends', async () => {
    const { service } = await start((response) => {
      response.writeHead(400).write('tools are not supported'.padEnd(100_000));
    });
    expect((await askChat(service, { ...HELLO, tools: [TOOL] })).body.error).toMatchObject({ param: 'tools' });
  });

  test('an unreachable engine is 503', async () => {
    const { service } = await start(() => undefined, { url: 'http://127.0.0.1:9/v1' });
    expect((await askChat(service, HELLO)).status).toBe(503);
  });

  test('an address with a trailing slash is the same address', async () => {
    const { engine, service } = await start(stream(engineChunk({ content: 'Hi' }, 'stop'), DONE));
    const { service: other } = await start(() => undefined, { url: `${engine.url}/` });
    expect((await streamChat(other, HELLO)).lines).toEqual((await streamChat(service, HELLO)).lines);
  });

  test.each([
    ['HTML', 'text/html', '<html>hello</html>'],
    ['an error object', 'application/json', `{"error":{"message":"${ENGINE_KEY}"}}`],
    ['no choices', 'application/json', '{"id":"e1","choices":[]}'],
    ['a list', 'application/json', '[]'],
    ['null', 'application/json', 'null'],
    ['truncated JSON', 'application/json', '{"choices":[{"mess'],
    ['nothing', 'application/json', ''],
  ])('200 with %s is 503', async (_, contentType, body) => {
    const { service } = await start((response) => void begin(response, contentType).end(body));
    for (const isStream of [false, true]) {
      const answer = await askChat(service, { ...HELLO, stream: isStream });
      expect([answer.status, JSON.stringify(answer.body)]).toEqual([503, expect.not.stringContaining('sk-upstream')]);
    }
  });

  test('a complete JSON reply to a stream request is relayed as a stream', async () => {
    const { service } = await start((response) => {
      begin(response, 'application/json').end(JSON.stringify(engineReply({ content: 'Hi' })));
    });
    const { chunks } = await streamChat(service, HELLO);
    expect(chunks[0]?.choices[0]).toMatchObject({ delta: { content: 'Hi' }, finish_reason: 'stop' });
  });
});
