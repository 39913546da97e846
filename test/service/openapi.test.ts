import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Response } from 'got';
import { connectRedis } from '../../src/shared/redis/redis.ts';
import { CasSignIn } from '../../src/service/oauth/methods/cas-sign-in.ts';
import { recordingLog, startTestRedis, type TestRedis } from '../support/redis.ts';
import { GIF, HELLO, user, WEATHER } from './chat-bodies.ts';
import { AnswerJudge } from './openapi/answer-judge.ts';
import { asFields, lookUp, operationsOf, readDocument, type Fields } from './openapi/openapi-document.ts';
import { CODE_FORM, RecordedService } from './openapi/recorded-service.ts';
import { SchemaJudge } from './openapi/schema-judge.ts';
import { startStandIn, type StandIn } from './sign-in-support.ts';
import { begin, engineChunk, engineReply, startEngine, stream } from './stand-in-engine.ts';
import { API_KEY, authorizePath, CALLBACK, NO_LIMITS } from './support.ts';

const root = readDocument();
const schemas = new SchemaJudge(root);
const judge = new AnswerJudge(root, schemas);
const KEY = { authorization: `Bearer ${API_KEY}` };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

let server: TestRedis;
let service: RecordedService;
let cas: StandIn;

beforeAll(async () => {
  server = await startTestRedis();
  cas = await startStandIn((request, response) => {
    const name = request.url?.includes('ticket=ST-long') ? 'x'.repeat(300) : '20240007';
    const success = `<cas:authenticationSuccess><cas:user>${name}</cas:user></cas:authenticationSuccess>`;
    response.end(`<cas:serviceResponse xmlns:cas="http://www.yale.edu/tp/cas">${success}</cas:serviceResponse>`);
  });
  service = await RecordedService.start(server.redis, {
    chatLimits: NO_LIMITS,
    loginLimits: { ofNameAtAddress: 1, ofAddress: 1_000, ofName: 1_000, ofDevice: 100 },
    metrics: async () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', text: 'up 1\n' }),
    prove: (nonce) => `proof-of-${nonce}`,
    institution: { signIn: new CasSignIn({ url: `${cas.url}/cas`, profileMap: {} }) },
  });
});
afterAll(async () => {
  await Promise.all([service.close(), cas.close()]);
  await server.stop();
});

/** Expects every recorded answer to match the document. */
function expectAsDocumented(recorded: RecordedService, reading: 'open' | 'closed' = 'closed'): void {
  expect(recorded.answers.length).toBeGreaterThan(0);
  expect(recorded.answers.splice(0).flatMap((answer) => judge.faults(answer, reading))).toEqual([]);
}

/** Checks that removing a field of the document, or changing its type, makes the recorded answers invalid. */
function expectPlantedFaultsFound(answers: Response<string>[]): void {
  const plants: [place: string, plant: (fields: Fields) => void][] = [
    ['#/components/schemas/Reply/properties', (fields) => delete fields['usage']],
    ['#/components/schemas/Chunk/properties', (fields) => (fields['created'] = { type: 'string' })],
    ['#/components/schemas/ToolCall', (fields) => (fields['required'] = ['id', 'name'])],
    ['#/paths/~1v1~1models/get/responses', (fields) => delete fields['200']],
    ['#/components/headers/NoStore/schema', (fields) => (fields['const'] = 'no-cache')],
  ];
  for (const [place, plant] of plants) {
    const planted = readDocument();
    plant(asFields(lookUp(planted, place)));
    const judgeOfPlanted = new AnswerJudge(planted, new SchemaJudge(planted));
    expect([place, answers.flatMap((answer) => judgeOfPlanted.faults(answer, 'closed'))]).not.toEqual([place, []]);
  }
}

async function withService(
  options: Parameters<typeof RecordedService.start>[1],
  use: (other: RecordedService) => Promise<unknown>,
  reading: 'open' | 'closed' = 'closed',
): Promise<void> {
  const other = await RecordedService.start(server.redis, options);
  try {
    await use(other);
    expectAsDocumented(other, reading);
  } finally {
    await other.close();
  }
}

/** Faults of a request body by the document. */
const requestFaults = (body: unknown) => schemas.faults({ $ref: '#/components/schemas/ChatRequest' }, body);

/** The address to which the other server redirects the browser. */
function returnOf(away: Response<string>, ticket: string): string {
  const { pathname, search } = new URL(new URL(away.headers.location ?? '').searchParams.get('service') ?? '');
  return `${pathname}${search}&ticket=${ticket}`;
}

describe('the answers of the service match the document: status, headers, type and every field', () => {
  test('of chat requests with complete and streamed replies, thoughts, tool calls, images and usage', async () => {
    const weather = { model: 'svc-plus', messages: [user('What is the weather in Beijing?')], tools: [WEATHER] };
    const image = [
      user([
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: GIF } },
      ]),
    ];
    const thinking = { ...HELLO, thinking: { type: 'enabled' }, reasoning_effort: 'high' };
    const taken: object[] = [HELLO, weather, thinking, { model: 'svc-plus', messages: image }];
    for (const request of taken) {
      const { body } = await service.chat(request);
      await service.chat({ ...request, stream: true, stream_options: { include_usage: true } });
      expect(requestFaults(request)).toEqual([]);
      const [choice] = (JSON.parse(body) as { choices: [{ message: { tool_calls: { id: string }[] } }] }).choices;
      const [call] = choice.message.tool_calls;
      if (call === undefined) continue;
      const said = [
        ...weather.messages,
        choice.message,
        { role: 'tool', tool_call_id: call.id, content: '21 degrees' },
      ];
      await service.chat({ ...weather, messages: said });
      expect(requestFaults({ ...weather, messages: said })).toEqual([]);
    }
    await service.send('/v1/models', { headers: KEY });
    expect(service.answers).toHaveLength(10);
    expectPlantedFaultsFound(service.answers);
    expectAsDocumented(service);
  });

  test.each<[what: string, changes: object]>([
    ['no messages', { messages: [] }],
    ['no model', { model: undefined }],
    ['an unknown role', { messages: [{ role: 'narrator', content: 'x' }] }],
    ['no content', { messages: [user(null)] }],
    ['a part of another type', { model: 'svc-plus', messages: [user([{ type: 'audio' }])] }],
    ['no image', { model: 'svc-plus', messages: [user([{ type: 'image_url', image_url: { url: 'file:///x' } }])] }],
    [
      'an image for a model without image input',
      { messages: [user([{ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }])] },
    ],
    ['a temperature above 1', { temperature: 1.1 }],
    ['a top_p below 0', { top_p: -0.1 }],
    ['a stream that is not a boolean', { stream: 'yes' }],
    ['thinking without a type', { thinking: {} }],
    ['effort without thinking', { reasoning_effort: 'low' }],
    ['effort of another model', { model: 'svc-plus', thinking: { type: 'enabled' }, reasoning_effort: 'low' }],
    ['a tool without parameters', { tools: [{ type: 'function', function: { name: 'f', description: '' } }] }],
    [
      'a call without arguments',
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f' } }] }] },
    ],
  ])('of refused chat requests that the document does not allow either: %s', async (_, changes) => {
    const request = { ...HELLO, ...changes };
    expect((await service.chat(request)).statusCode).toBe(400);
    expect(requestFaults(JSON.parse(JSON.stringify(request)))).not.toEqual([]);
    expectAsDocumented(service);
  });

  test('of every other chat error', async () => {
    const path = '/v1/chat/completions';
    await service.send(path, { method: 'POST', headers: { ...KEY, 'content-type': 'application/json' }, body: '{' });
    await service.chat(HELLO, 'sk-nope');
    await service.send('/v1/models');
    await service.chat({ ...HELLO, model: 'gpt-0' });
    await service.send(path, {
      method: 'POST',
      headers: { ...KEY, 'content-type': 'application/json' },
      body: Buffer.alloc(33 * 1_024 * 1_024, 'a'),
    });
    for (const method of ['GET', 'PUT'] as const) await service.send(path, { method, headers: KEY });
    for (const address of ['/v1', '/v1/embeddings', '/v1/chat/completions/x']) await service.send(address);
    await service.send('/v1/models', { method: 'DELETE', headers: KEY });
    expectAsDocumented(service);
    await withService({ chatLimits: { requestsPer10Sec: 0, maxConcurrent: 1 } }, (other) => other.chat(HELLO));
    await withService({ upstream: { url: 'http://127.0.0.1:9', models: {} } }, async (other) => {
      for (const isStream of [false, true]) await other.chat({ ...HELLO, stream: isStream });
    });
  });

  test('of replies, refusals and broken streams of an engine', async () => {
    let round = 0;
    const answers: Parameters<typeof startEngine>[0][] = [
      (response) => void begin(response, 'application/json').end(JSON.stringify(engineReply({ content: 'Hi' }))),
      stream(
        engineChunk({ role: 'assistant', content: 'Hi' }),
        engineChunk({ content: '!' }, 'length'),
        'data: [DONE]\n\n',
      ),
      stream(engineChunk({ content: 'Hi' })),
      (response) => void response.writeHead(400).end('no'),
      (response) => void response.writeHead(413).end('no'),
      (response) => void response.writeHead(429, { 'retry-after': '7' }).end('no'),
    ];
    const engine = await startEngine((response) => answers[round++]?.(response));
    const started = { chatLimits: NO_LIMITS, upstream: { url: engine.url, models: {} } };
    await withService(
      started,
      async (other) => {
        const statuses: number[] = [];
        for (const isStream of [false, true, true, false, false, false])
          statuses.push((await other.chat({ ...HELLO, stream: isStream })).statusCode);
        expect(statuses).toEqual([200, 200, 200, 400, 413, 429]);
        expect(other.answers[2]?.body).toContain('"error"');
      },
      'open',
    );
    await engine.stop();
  });

  test('of sign-in: the forms, consent, code, account and sign-out', async () => {
    await service.obtainCode();
    const browser = service.browser();
    expect((await browser.logIn(authorizePath(), 'wrong')).statusCode).toBe(401);
    expect((await browser.logIn(authorizePath(), 'wrong')).statusCode).toBe(429);
    const consent = await browser.follow(await browser.logIn(authorizePath()));
    expect((await browser.submit(consent, { decision: 'deny' })).headers.location).toContain('error=access_denied');
    expect((await browser.submit(consent, {})).statusCode).toBe(400);
    await browser.submit(consent, { decision: 'allow', remember: 'yes' });
    expect((await browser.get(authorizePath())).statusCode).toBe(303);
    const account = await browser.get('/account');
    expect((await browser.submit(account, {})).headers.location).toBe('/account');
    await browser.submit(await browser.get(authorizePath()), { decision: 'switch' });
    await browser.get('/logout');
    await browser.get(`/logout?service=${encodeURIComponent(CALLBACK)}`);
    const onwards = `/sign-in/return?service=${encodeURIComponent(CALLBACK)}`;
    const login = await browser.get(onwards);
    expect([login.statusCode, (await browser.get('/sign-in/return?service=x')).statusCode]).toEqual([200, 400]);
    await browser.logIn(onwards);
    expect((await browser.get(onwards)).headers.location).toBe(CALLBACK);
    for (const path of ['/account', '/', `/sign-in?return_to=/account`, '/sign-in?return_to=//x', '/nowhere'])
      await browser.get(path);
    for (const path of ['/oauth2.0/login', '/oauth2.0/decision', '/account/withdraw']) {
      expect((await service.send(path, { method: 'POST', form: { csrf: 'x' } })).statusCode).toBe(403);
      const broken = { method: 'POST', headers: FORM_TYPE, body: `csrf=${'x'.repeat(70_000)}` } as const;
      expect((await service.send(path, broken)).statusCode).toBe(400);
      await service.send(path);
    }
    for (const parameters of [{ response_type: 'token' }, { scope: 'x' }, { code_challenge: 'x' }] as Record<
      string,
      string
    >[])
      expect((await browser.get(authorizePath(parameters))).statusCode).toBe(302);
    expect((await browser.get(authorizePath({ client_id: 'nobody' }))).statusCode).toBe(400);
    const style = /href="(\/style-[^"]+)"/.exec(account.body)?.[1] ?? '';
    for (const path of [style, '/style-0123456789ab.css']) await service.send(path);
    expectAsDocumented(service);
  });

  test('of sign-in redirects to another server and back', async () => {
    const browser = service.browser();
    const away = await browser.get('/sign-in/cas?return_to=/account&prompt=login');
    for (const [ticket, status] of [
      ['ST-long', 403],
      ['ST-1', 303],
      ['ST-1', 400],
    ] as const)
      expect((await browser.get(returnOf(away, ticket))).statusCode).toBe(status);
    for (const path of ['/sign-in/cas', '/sign-in/oidc?return_to=/account', '/sign-in/oidc/callback'])
      await browser.get(path);
    for (const [name, status] of [
      ['cas', 400],
      ['nowhere', 404],
    ] as const)
      expect((await service.send(`/sign-in/${name}/callback`, { method: 'POST', form: {} })).statusCode).toBe(status);
    expectAsDocumented(service);
    await withService(
      { directory: [], institution: { signIn: new CasSignIn({ url: 'http://127.0.0.1:9/cas', profileMap: {} }) } },
      async (other) => {
        const leaving = other.browser();
        for (const path of ['/account', authorizePath(), `/sign-in/return?service=${encodeURIComponent(CALLBACK)}`])
          expect((await leaving.get(path)).statusCode).toBe(302);
        const gone = await leaving.get('/sign-in/cas?return_to=/account');
        expect((await leaving.get(returnOf(gone, 'ST-1'))).statusCode).toBe(502);
      },
    );
  });

  test("of every page requested under another host name, which redirects to the service's own", async () => {
    const { port } = new URL(service.url);
    const browser = service.browser({ host: `localhost:${port}` });
    for (const { path, method, operation } of operationsOf(root)) {
      if (method !== 'get' || !('307' in operation.responses)) continue;
      expect((await browser.get(path.replace('{name}', 'cas'))).statusCode).toBe(307);
    }
    expectAsDocumented(service);
  });

  test('of tokens: exchange, refresh, profile and every refusal', async () => {
    const exchanged = await service.token({ ...CODE_FORM, code: await service.obtainCode() });
    const tokens = JSON.parse(exchanged.body) as { access_token: string; refresh_token: string };
    const { redirect_uri: redirectUri, grant_type: _, ...client } = CODE_FORM;
    await service.token({ ...client, grant_type: 'refresh_token', refresh_token: tokens.refresh_token });
    for (const changes of [{ client_secret: 'x' }, { grant_type: 'password' }, { redirect_uri: '' }])
      await service.token({ ...CODE_FORM, code: 'x', redirect_uri: redirectUri, ...changes });
    await service.token({ ...CODE_FORM, code: 'x' });
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    await service.send('/oauth2.0/profile', { headers });
    await service.send('/oauth2.0/profile', { method: 'HEAD', headers });
    await service.send(`/oauth2.0/profile?access_token=x`, { headers });
    await service.send('/oauth2.0/profile');
    await service.send('/oauth2.0/profile', { headers: { authorization: 'Bearer x' } });
    const metadata = '/.well-known/oauth-authorization-server';
    const revoked = '/oauth2.0/revoke';
    for (const path of ['/oauth2.0/profile', '/oauth2.0/accessToken']) await service.send(path, { method: 'PUT' });
    expect(service.answers.slice(-12).map(({ statusCode }) => statusCode)).toEqual([
      200, 401, 400, 400, 400, 200, 200, 400, 401, 401, 405, 405,
    ]);
    const { client_id: id, client_secret: secret } = CODE_FORM;
    const form = { client_id: id, client_secret: secret, token: tokens.refresh_token };
    for (const changes of [{}, { token: '' }, { client_secret: 'x' }])
      await service.send(revoked, { method: 'POST', form: { ...form, ...changes } });
    for (const method of ['GET', 'PUT'] as const) await service.send(metadata, { method });
    await service.send(revoked, { method: 'PUT' });
    expect(service.answers.slice(-6).map(({ statusCode }) => statusCode)).toEqual([200, 400, 401, 200, 405, 405]);
    expectAsDocumented(service);
  });

  test('of models by name, and of endpoints that only an engine provides', async () => {
    const headers = { authorization: `Bearer ${API_KEY}` };
    for (const path of ['/v1/models/svc-max', '/v1/models/none']) {
      await service.send(path, { headers });
      await service.send(path);
    }
    await service.send('/v1/embeddings', { method: 'POST' });
    expectAsDocumented(service);
  });

  test('of health checks, with and without Redis', async () => {
    for (const path of ['/healthz', `/healthz?nonce=${'n'.repeat(16)}`, '/version', '/readyz', '/metrics'])
      await service.send(path);
    await service.send('/healthz', { method: 'POST' });
    expectAsDocumented(service);
    const away = connectRedis({ urls: ['redis://127.0.0.1:9'] }, 'fail-fast', recordingLog().log, 'service');
    const other = await RecordedService.start(away);
    await other.send('/readyz');
    await other.token({ ...CODE_FORM, code: 'x' });
    await other.send('/oauth2.0/revoke', { method: 'POST', form: { ...CODE_FORM, token: 'x' } });
    await other.send('/oauth2.0/profile', { headers: { authorization: 'Bearer x' } });
    const browser = other.browser();
    browser.cookies.set('__Host-svc-session', 'x'.repeat(43));
    for (const path of [authorizePath(), '/account', '/logout']) await browser.get(path);
    expect(other.answers.map(({ statusCode }) => statusCode)).toEqual(Array(7).fill(503));
    expectAsDocumented(other);
    await other.close();
    away.disconnect();
  });

  test('cover each documented answer, except those of faults that cannot be produced here', () => {
    // Answers of the pass-through come from an engine; pass-through.test.ts covers them.
    const notMade =
      / 500$|^passOn (?!404)|^(?:logIn|decide|withdrawConsent|leaveForSignIn|returnFromSignIn|authorize|showAccount|returnAfterSignOut) 50[23]$/;
    expect(judge.unseen().filter((answer) => !notMade.test(answer))).toEqual([]);
  });
});
