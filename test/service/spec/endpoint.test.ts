import { describe, expect, test } from '@jest/globals';
import { got } from 'got';
import { API_KEY, NO_LIMITS, startTestService } from '../support.ts';
import { askChat, postRaw } from '../chat-client.ts';
import { GIF, HELLO, user, WEATHER } from '../chat-bodies.ts';
import { useTestService } from '../use-test-service.ts';

const { server, service } = useTestService({ chatLimits: NO_LIMITS });

/** Sends a request to any address of the service, with the key. */
async function send(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string) {
  const headers = { authorization: `Bearer ${API_KEY}` };
  const answer = await got(`${service.url}${path}`, { method, headers, throwHttpErrors: false, retry: { limit: 0 } });
  return { status: answer.statusCode, body: JSON.parse(answer.body) as Record<string, unknown> };
}

describe('the service [overview]', () => {
  test('replies by a named model, as one JSON response or as a stream [chat-completions]', async () => {
    expect((await askChat(service, HELLO)).body).toMatchObject({ object: 'chat.completion', model: 'svc-max' });
    const headers = { authorization: `Bearer ${API_KEY}` };
    const stream = await got.post(`${service.url}/v1/chat/completions`, { json: { ...HELLO, stream: true }, headers });
    expect(stream.headers['content-type']).toMatch(/^text\/event-stream/);
    expect(stream.body).toMatch(/^data: \{"id"[\s\S]*"chat\.completion\.chunk"[\s\S]*data: \[DONE\]\n\n$/);
  });

  test('lets the model answer with a tool call instead of text [tool-calls]', async () => {
    const messages = [user('What is the weather in Beijing?')];
    const { body } = await askChat(service, { ...HELLO, messages, tools: [WEATHER] });
    expect(body.choices).toMatchObject([{ message: { content: null, tool_calls: [{ type: 'function' }] } }]);
  });

  test('supports image input for svc-plus only, and an optional thinking mode [images]', async () => {
    const messages = [user([{ type: 'image_url', image_url: { url: GIF } }])];
    expect((await askChat(service, { model: 'svc-plus', messages })).status).toBe(200);
    expect((await askChat(service, { model: 'svc-max', messages })).status).toBe(400);
    expect((await askChat(service, { ...HELLO, thinking: { type: 'enabled' } })).status).toBe(200);
  });

  test('ignores the fields of the withdrawn native web search [withdrawn-search]', async () => {
    const fields = { web_search: true, enable_search: true, search_options: { depth: 3 } };
    const { body } = await askChat(service, { ...HELLO, ...fields });
    const plain = await askChat(service, HELLO);
    expect({ ...body, id: '' }).toEqual({ ...plain.body, id: '' });
  });
});

describe('POST {base_url}/chat/completions [chat-completions]', () => {
  test('has a base address that ends in the version segment v1 [versions]', async () => {
    expect((await postRaw(service, JSON.stringify(HELLO))).status).toBe(200);
    const other = await got.post(`${service.url}/v2/chat/completions`, { json: HELLO, throwHttpErrors: false });
    expect(other.statusCode).toBe(404);
  });

  test.each([
    ['application/json', 200],
    ['application/json; charset=utf-8', 200],
    ['application/json;charset="UTF-8"', 200],
    ['Application/JSON', 200],
    ['application/problem+json', 200],
    [undefined, 400],
    ['text/plain', 400],
    ['application/jsonp', 400],
    ['application/x-www-form-urlencoded', 400],
    ['application/json; charset=gbk', 400],
    ['application/json; charset=klingon', 400],
  ])('with Content-Type: application/json; %s gives %d [chat-completions]', async (contentType, status) => {
    const body = contentType === undefined ? Buffer.from(JSON.stringify(HELLO)) : JSON.stringify(HELLO);
    expect((await postRaw(service, body, { 'content-type': contentType })).status).toBe(status);
  });

  test.each([
    ['no header', undefined],
    ['an empty one', ''],
    ['a wrong key', 'Bearer sk-nope'],
    ['another scheme', `Basic ${API_KEY}`],
    ['half a key', `Bearer ${API_KEY.slice(0, -1)}`],
    ['more than the key', `Bearer ${API_KEY} x`],
    ['two keys', `Bearer ${API_KEY},sk-test-key-2`],
  ])('requires the header Authorization: Bearer <API_KEY>; %s gives 401 [api-key]', async (_, authorization) => {
    const unauthorized = {
      error: {
        message: 'A valid API key is required: Authorization: Bearer API_KEY',
        type: 'authentication_error',
        param: null,
        code: 'invalid_api_key',
      },
    };
    const answer = await postRaw(service, JSON.stringify(HELLO), { authorization });
    expect([answer.status, answer.headers['www-authenticate'], answer.body]).toEqual([
      401,
      'Bearer realm="chat"',
      unauthorized,
    ]);
    const headers = authorization === undefined ? {} : { authorization };
    const models = await got(`${service.url}/v1/models`, { headers, throwHttpErrors: false });
    expect([models.statusCode, JSON.parse(models.body)]).toEqual([401, unauthorized]);
  });

  test('accepts every configured key, with the scheme in any case [api-key]', async () => {
    for (const authorization of [`Bearer ${API_KEY}`, `bearer ${API_KEY}`, 'Bearer  sk-test-key-2'])
      expect((await postRaw(service, JSON.stringify(HELLO), { authorization })).status).toBe(200);
  });

  test('checks the key before the body, so a stranger learns nothing about fields', async () => {
    expect((await postRaw(service, '{"model":', { authorization: 'Bearer sk-nope' })).status).toBe(401);
  });

  test.each(['images/generations', 'embeddings', 'rerank', 'audio/speech'])(
    'is not available as /v1/%s, which is 404 with the error object [chat-completions]',
    async (path) => {
      for (const method of ['POST', 'GET'] as const)
        expect(await send(method, `/v1/${path}`)).toEqual({
          status: 404,
          body: {
            error: {
              // An engine may provide it if one is configured (SERVICE.md passed-on).
              message: expect.stringMatching(/^This address does not exist$|^This requires an engine/),
              type: 'not_found_error',
              param: null,
              code: 'unknown_address',
            },
          },
        });
    },
  );

  test.each([
    ['GET', '/v1/chat/completions'],
    ['PUT', '/v1/chat/completions'],
    ['DELETE', '/v1/models'],
    ['POST', '/v1/models'],
    ['POST', '/v1'],
    ['POST', '/v1/chat'],
    ['POST', '/v1/chat/completions/x'],
  ] as const)('%s %s is 404 with the error object', async (method, path) => {
    expect(await send(method, path)).toMatchObject({ status: 404, body: { error: { code: 'unknown_address' } } });
  });

  test.each(['/v1/responses', '/v1/completions'])('POST %s is 404 and names the address to use', async (path) => {
    expect(await send('POST', path)).toMatchObject({
      status: 404,
      body: { error: { code: 'unknown_address', message: expect.stringContaining('/v1/chat/completions') } },
    });
  });

  test('GET /v1/models lists the models of the models file, and each has its own address', async () => {
    const model = (id: string) => ({ id, object: 'model', created: 1_735_689_600, owned_by: 'parley' });
    expect(await send('GET', '/v1/models')).toEqual({
      status: 200,
      body: { object: 'list', data: [model('svc-plus'), model('svc-max')] },
    });
    expect(await send('GET', '/v1/models/svc-max')).toEqual({ status: 200, body: model('svc-max') });
    expect(await send('GET', '/v1/models/gpt-x')).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_found', param: 'model' } },
    });
  });
});

describe('the error format {"error":{"message","type","param","code"}} [errors]', () => {
  const NONE = { requestsPer10Sec: 0, maxConcurrent: 1 };
  const MIB = 1_024 * 1_024;

  type Ask = () => Promise<{ status: number; body: unknown }>;
  test.each<[status: number, type: string, code: string, param: string | null, ask: Ask]>([
    [400, 'invalid_request_error', 'invalid_json', null, () => postRaw(service, '{')],
    [400, 'invalid_request_error', 'invalid_value', 'stream', () => askChat(service, { ...HELLO, stream: 5 })],
    [401, 'authentication_error', 'invalid_api_key', null, () => askChat(service, HELLO, 'sk-nope')],
    [404, 'not_found_error', 'model_not_found', 'model', () => askChat(service, { ...HELLO, model: 'x' })],
    [404, 'not_found_error', 'unknown_address', null, () => send('POST', '/v1/embeddings')],
    [413, 'invalid_request_error', 'request_too_large', null, () => postRaw(service, Buffer.alloc(33 * MIB, 'a'))],
    [429, 'rate_limit_error', 'rate_limit_exceeded', null, () => withService({ chatLimits: NONE })],
    [
      503,
      'server_error',
      'unavailable',
      null,
      () => withService({ upstream: { url: 'http://127.0.0.1:9', models: {} } }),
    ],
  ])('is used for %d %s %s [errors]', async (status, type, code, param, ask) => {
    const answer = await ask();
    expect([answer.status, answer.body]).toEqual([
      status,
      { error: { message: expect.stringMatching(/^\w.{9,}$/), type, param, code } },
    ]);
  });

  async function withService(overrides: Parameters<typeof startTestService>[1]) {
    const other = await startTestService(server.redis, overrides);
    const answer = await askChat(other, HELLO);
    await other.close();
    return answer;
  }
});
