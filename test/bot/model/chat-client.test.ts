import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { shippedModels } from '../../support/shipped-models.ts';
import { listModels } from '../../../src/bot/model/list-models.ts';
import { untilTrue } from '../../support/until-true.ts';
import { SECOND_MS } from '../../../src/shared/clock.ts';
import { startChatFixture, API_KEY, CANARY, type ChatFixture } from './chat-fixture.ts';
import {
  chunk,
  cutAfter,
  helloStream,
  jsonOf,
  sse,
  stallAfter,
  statusOf,
  streamOf,
  type Answer,
} from './scripted-chat-server.ts';

let fixture: ChatFixture;
beforeEach(async () => {
  fixture = await startChatFixture();
});
afterEach(() => fixture.stop());

/** Replaces the fixture with one that has other limits. */
async function fixtureWith(...given: Parameters<typeof startChatFixture>): Promise<ChatFixture> {
  await fixture.stop();
  fixture = await startChatFixture(...given);
  return fixture;
}

describe('a request', () => {
  test('is written as the chat interface specifies', async () => {
    fixture.server.script(helloStream());
    const tool = { name: 'clock', description: 'Tells the time', parameters: { type: 'object', properties: {} } };
    await fixture.ask({
      model: 'svc-max',
      thinking: 'high',
      tools: [tool],
      messages: [
        { role: 'system', content: 's' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image', dataUrl: 'data:image/png;base64,AA==' },
          ],
        },
        { role: 'assistant', content: '', toolCalls: [{ callId: 'c', name: 'clock', argumentsJson: '{}' }] },
        { role: 'tool', callId: 'c', content: 'noon' },
      ],
    });
    const [call] = fixture.server.calls;
    expect([call?.path, call?.authorization]).toEqual(['/v1/chat/completions', `Bearer ${API_KEY}`]);
    expect(call?.body).toEqual({
      model: 'svc-max',
      stream: true,
      stream_options: { include_usage: true },
      thinking: { type: 'enabled' },
      reasoning_effort: 'high',
      tools: [{ type: 'function', function: tool }],
      messages: [
        { role: 'system', content: 's' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'clock', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'noon' },
      ],
    });
  });

  test('sets an effort only for models that support it, and only while they think', async () => {
    fixture.server.script(helloStream());
    await fixture.ask({ model: 'svc-plus', thinking: 'max' });
    await fixture.ask({ model: 'svc-max', thinking: 'off' });
    await fixture.ask({ model: 'svc-max' });
    expect(fixture.server.calls.map(({ body }) => [body['thinking'], body['reasoning_effort']])).toEqual([
      [{ type: 'enabled' }, undefined],
      [{ type: 'disabled' }, undefined],
      [undefined, undefined],
    ]);
  });
});

describe('an answer', () => {
  test('arrives in pieces as the service sends it', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    fixture.server.script(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ content: 'first' }));
      await gate;
      response.end(chunk({ content: ' second' }, 'stop') + sse('[DONE]'));
    });
    const seen: string[] = [];
    await fixture.ask({}, undefined, (event) => {
      seen.push(event.type === 'text' ? event.delta : event.type);
      release();
    });
    expect(seen).toEqual(['first', ' second', 'end']);
    expect(fixture.ended).toEqual([expect.objectContaining({ outcome: 'complete', firstEventMs: 0 })]);
  });

  test('that is not streamed yields the same events, whether streaming was requested or not', async () => {
    const toolCall = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const message = { role: 'assistant', content: 'all', reasoning_content: 'why', tool_calls: [toolCall] };
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    fixture.server.script(jsonOf({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage }));
    for (const stream of [true, false]) {
      expect((await fixture.ask({ stream })).events).toEqual([
        { type: 'reasoning', delta: 'why' },
        { type: 'text', delta: 'all' },
        { type: 'usage', promptTokens: 1, completionTokens: 2 },
        { type: 'tool-call', index: 0, callId: 'c', name: 'f', argumentsJson: '{}' },
        { type: 'end', reason: 'tool_calls' },
      ]);
    }
    expect(fixture.server.calls[1]?.body['stream']).toBe(false);
    const counted = expect.objectContaining({ model: 'svc-plus', inputTokens: 1, outputTokens: 2 });
    expect(fixture.ended).toEqual([counted, counted]);
  });

  test.each<[string, Answer, string, number?]>([
    ['JSON without a reply', jsonOf({ hello: 'world' }), 'chat_bad_stream', 3],
    ['an error object with status 200', jsonOf({ error: { code: 400 } }), 'chat_bad_request'],
    ['a page', statusOf(200, { 'content-type': 'text/html' }, '<p>Log in</p>'), 'chat_bad_stream', 3],
    ['a redirect', statusOf(302, { location: 'http://127.0.0.1:1/' }), 'chat_bad_stream'],
  ])('that is %s is an error', async (_name, answer, code, tries = 1) => {
    fixture.server.script(answer);
    expect(await fixture.ask()).toMatchObject({ events: [], error: { code } });
    expect(fixture.server.calls).toHaveLength(tries);
  });

  test('with an unknown finish reason is complete, and counted', async () => {
    fixture.server.script(streamOf(chunk({ content: 'a' }, 'eos'), sse('[DONE]')));
    expect(await fixture.ask()).toMatchObject({ text: 'a', end: 'other' });
    expect(fixture.unknownReasons).toBe(1);
  });

  test('cut at any offset keeps its prefix and ends as truncated, or is requested again', async () => {
    const stream = Buffer.from([...'héllo 世界'].map((content) => chunk({ content })).join(''));
    for (let offset = 0; offset < stream.length; offset += 41) {
      fixture.server.script(cutAfter(stream.subarray(0, offset)), helloStream('again'));
      const { text, end, error } = await fixture.ask({ model: `m${offset}` });
      expect(error).toBeUndefined();
      if (end === 'stop') expect(text).toBe('again');
      else expect(['truncated', 'héllo 世界'.startsWith(text) && text !== '']).toEqual([end, true]);
    }
  });
});

describe('time and size limits [chat-time-limits]', () => {
  test('a missing first byte is an error that is not retried', async () => {
    // Enough for a busy machine to send the request.
    const { server, ask } = await fixtureWith({ firstByteMs: SECOND_MS });
    server.script(stallAfter(''));
    expect(await ask()).toMatchObject({ error: { code: 'chat_timeout' } });
    await untilTrue(() => server.calls.length > 0);
    expect(await server.calls[0]?.closed).toBe('cut');
    expect(server.calls).toHaveLength(1);
  });

  test('thinking and unstreamed replies get the longer first-byte timeout', async () => {
    const { server, ask } = await fixtureWith({ firstByteMs: 200 });
    server.script(async (response, call) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await helloStream()(response, call);
    });
    expect((await ask({ thinking: 'low' })).end).toBe('stop');
    expect((await ask({ stream: false })).end).toBe('stop');
    expect((await ask({ thinking: 'off' })).error?.code).toBe('chat_timeout');
  });

  test('a stall keeps the text so far and closes the connection', async () => {
    const { server, ask, ended } = await fixtureWith({ idleMs: 200 });
    server.script(stallAfter(chunk({ content: 'kept' }) + chunk({ content: ': 1 <' })));
    expect(await ask()).toMatchObject({ text: 'kept: 1 <', error: { code: 'chat_stalled' } });
    expect(await server.calls[0]?.closed).toBe('cut');
    expect(ended).toEqual([expect.objectContaining({ outcome: 'chat_stalled' })]);
  });

  test('a reported error keeps the text so far, also what waited for its next characters', async () => {
    const { server, ask } = await fixtureWith({});
    server.script(streamOf(chunk({ content: 'kept' }), chunk({ content: ': 1 <' }), sse('{"error":"bad"}')));
    expect(await ask()).toMatchObject({ text: 'kept: 1 <', error: { code: 'chat_server_error' } });
  });

  test('comments keep an answer alive, but not beyond the total time', async () => {
    const { server, ask } = await fixtureWith({ idleMs: 500, totalMs: 800 });
    server.script((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const timer = setInterval(() => response.write(': alive\n\n'), 25);
      response.once('close', () => clearInterval(timer));
    });
    const startedMs = performance.now();
    expect((await ask()).error?.code).toBe('chat_timeout');
    expect(performance.now() - startedMs).toBeGreaterThan(750);
  });

  test('a model whose idle limit exceeds the total time is not cut off while silent', async () => {
    const shipped = shippedModels();
    const patient = { ...shipped, of: (model: string) => ({ ...shipped.of(model), idleMs: 30_000 }) };
    const { server, ask } = await fixtureWith({ idleMs: 200, totalMs: 300 }, patient);
    server.script(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ role: 'assistant', content: '' }));
      await new Promise((resolve) => setTimeout(resolve, 600));
      response.end(chunk({ content: 'found' }, 'stop') + sse('[DONE]'));
    });
    expect(await ask()).toMatchObject({ text: 'found', end: 'stop', error: undefined });
  });

  test('an answer that hangs after its finish reason is complete', async () => {
    const { server, ask } = await fixtureWith({ afterFinishMs: 40 });
    server.script(stallAfter(chunk({ content: 'all' }, 'stop')));
    expect(await ask()).toMatchObject({ text: 'all', end: 'stop', error: undefined });
  });

  test.each([
    ['text', chunk({ content: 'x'.repeat(500) }), undefined, 'length'],
    ['reasoning', chunk({ reasoning_content: 'x'.repeat(500) }), 'chat_answer_too_large', undefined],
    ['comments', `:${'x'.repeat(500)}\n`, 'chat_answer_too_large', undefined],
  ])('a never-ending stream of %s is capped', async (_name, piece, code, end) => {
    const { server, ask } = await fixtureWith({ maxAnswerBytes: 400_000, maxAnswerChars: 9_000 });
    server.script((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const write = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', write);
      write();
    });
    const answer = await ask();
    expect([answer.error?.code, answer.end, answer.text.length]).toEqual([code, end, end === undefined ? 0 : 9_000]);
    expect(await server.calls[0]?.closed).toBe('cut');
  });
});

describe('connections', () => {
  test('an abort closes the connection at once, before and during the answer', async () => {
    for (const said of ['', chunk({ content: 'some' })]) {
      const controller = new AbortController();
      fixture.server.script((response, call) => {
        void stallAfter(said)(response, call);
        setTimeout(() => controller.abort(), 20);
      });
      expect((await fixture.ask({}, controller.signal)).error?.code).toBe('chat_cancelled');
      expect(await fixture.server.calls.at(-1)?.closed).toBe('cut');
    }
  });

  test('an abort discards the rest of the bytes that have already arrived', async () => {
    const controller = new AbortController();
    fixture.server.script(streamOf(chunk({ content: 'a' }), chunk({ reasoning_content: 'b' }), chunk({}, 'stop')));
    const { text, events, error } = await fixture.ask({}, controller.signal, () => controller.abort());
    expect([text, events.length, error?.code]).toEqual(['a', 1, 'chat_cancelled']);
  });

  test('a listener that throws closes the connection at once, and its error is passed on unchanged', async () => {
    fixture.server.script(stallAfter(chunk({ content: 'a' })));
    const broken = new Error('the listener broke');
    const asking = fixture.ask({}, undefined, () => {
      throw broken;
    });
    await expect(asking).rejects.toBe(broken);
    expect(await fixture.server.calls[0]?.closed).toBe('cut');
    expect(fixture.server.calls).toHaveLength(1);
    expect(fixture.ended).toEqual([expect.objectContaining({ outcome: 'chat_cancelled' })]);
    expect(fixture.breaker).toEqual([]);
  });

  test('an abort before the first call or during the pause before a retry sends nothing more', async () => {
    expect((await fixture.ask({}, AbortSignal.abort())).error?.code).toBe('chat_cancelled');
    expect(fixture.server.calls).toHaveLength(0);
    const controller = new AbortController();
    fixture.server.script((response) => {
      response.writeHead(503, { 'retry-after': '20' }).end();
      setTimeout(() => controller.abort(), 50);
    });
    expect((await fixture.ask({}, controller.signal)).error?.code).toBe('chat_cancelled');
    expect(fixture.server.calls).toHaveLength(1);
  });

  test('a complete answer keeps its connection open for the next one', async () => {
    fixture.server.script(helloStream());
    for (let turn = 0; turn < 3; turn += 1) {
      await fixture.ask();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(fixture.server.calls.map(({ connection }) => connection)).toEqual([1, 1, 1]);
  });

  test('an unreachable service is tried three times', async () => {
    await fixture.server.stop();
    expect((await fixture.ask()).error?.code).toBe('chat_unreachable');
    expect(fixture.retries).toHaveLength(2);
  });
});

test('no error, log line or report contains the question, the answer or the key [secrets-stay-inside]', async () => {
  const echo = JSON.stringify({ error: { message: `${CANARY} ${API_KEY}`, code: 'context_length_exceeded' } });
  const answers: Answer[] = [
    statusOf(400, { 'content-type': 'application/json' }, echo),
    statusOf(401, {}, echo),
    streamOf(sse(`{"choices":"${CANARY}`), '\n'),
    jsonOf({ error: { message: CANARY, code: CANARY } }),
    streamOf(`data: ${CANARY}\n\n`),
  ];
  for (const [index, answer] of answers.entries()) {
    fixture.server.script(answer);
    const { error } = await fixture.ask({ model: `m${index}` });
    expect(error).toBeDefined();
    expect(JSON.stringify([error?.message, error?.stack, error?.cause, error])).not.toContain(CANARY);
    expect(JSON.stringify([error?.message, error?.stack, String(error?.cause)])).not.toContain(API_KEY);
  }
  const written = fixture.lines.join('') + JSON.stringify([fixture.ended, fixture.retries]);
  expect(fixture.lines.length).toBeGreaterThan(0);
  expect(written).not.toContain(CANARY);
  expect(written).not.toContain(API_KEY);
});

describe('the list of models', () => {
  const LIMITS = { connectMs: SECOND_MS, firstByteMs: SECOND_MS };
  const list = (signal?: AbortSignal) =>
    listModels({ baseUrl: fixture.server.baseUrl, apiKey: API_KEY, limits: LIMITS, signal });

  test('contains the model names', async () => {
    fixture.server.script(jsonOf({ object: 'list', data: [{ id: 'svc-plus' }, {}, { id: 'svc-max' }] }));
    expect(await list()).toEqual(['svc-plus', 'svc-max']);
    expect(fixture.server.calls[0]).toMatchObject({ path: '/v1/models', authorization: `Bearer ${API_KEY}` });
  });

  test('is undefined if the service has none, and an error with a code if the request fails', async () => {
    fixture.server.script(jsonOf({}, 404), jsonOf({}, 401), jsonOf({ data: 1 }));
    expect(await list()).toBeUndefined();
    await expect(list()).rejects.toMatchObject({ code: 'chat_refused' });
    await expect(list()).rejects.toMatchObject({ code: 'chat_bad_stream' });
    await expect(list(AbortSignal.abort())).rejects.toMatchObject({ code: 'chat_cancelled' });
  });

  test('throws an error without the key if the service is unreachable', async () => {
    const away = listModels({ baseUrl: 'http://127.0.0.1:9/v1', apiKey: API_KEY, limits: LIMITS });
    const error: unknown = await away.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'chat_unreachable', cause: { message: 'HTTP client: ECONNREFUSED' } });
    expect(Object.keys((error as Error).cause as Error)).toEqual([]);
  });
});
