import { afterEach, describe, expect, test } from '@jest/globals';
import type { ListeningServer } from '../../../src/shared/http/http-server.ts';
import { checkChat } from '../../../src/cli/check/check-chat.ts';
import { checkCollector } from '../../../src/cli/check/check-collector.ts';
import { checkPublicUrl } from '../../../src/cli/check/check-public-url.ts';
import { checkSignIn } from '../../../src/cli/check/check-sign-in.ts';
import { answering, verdicts, type Answers } from './support.ts';
import { CLOSED_PORT } from '../../support/closed-port.ts';

const open: ListeningServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function serve(answers: Answers) {
  const server = await answering(answers);
  open.push(server);
  return server;
}

describe('the check of the chat service', () => {
  const chat = { apiKey: 'sk-secret-key', models: ['svc-plus', 'svc-max'], model: 'svc-plus' };
  const LIST: Answers = { '/v1/models': [200, { data: [{ id: 'svc-plus' }, { id: 'svc-max' }] }] };
  const ANSWER: Answers = { '/v1/chat/completions': [200, { choices: [{ message: { content: 'OK' } }] }] };
  const check = async (answers: Answers) => {
    const server = await serve(answers);
    const results = await checkChat({ ...chat, baseUrl: `${server.url}/v1` });
    expect(JSON.stringify(results)).not.toContain('secret');
    return { results, seen: server.seen };
  };

  test('lists the models and asks one', async () => {
    const { results, seen } = await check({ ...LIST, ...ANSWER });
    expect(verdicts(results)).toEqual({ 'Chat models': 'ok', 'Chat answer': 'ok' });
    expect(seen.every(({ authorization }) => authorization === 'Bearer sk-secret-key')).toBe(true);
    const asked = JSON.parse(seen.find(({ method }) => method === 'POST')?.body ?? '') as object;
    expect(asked).toMatchObject({ model: 'svc-plus', stream: false, max_tokens: 8 });
  });

  test('also asks the fallback model, and says if that one fails', async () => {
    const server = await serve({ ...LIST, ...ANSWER });
    const results = await checkChat({ ...chat, fallbackModel: 'svc-max', baseUrl: `${server.url}/v1` });
    expect(verdicts(results)).toEqual({ 'Chat models': 'ok', 'Chat answer': 'ok', 'Chat fallback answer': 'ok' });
    expect(results[2]?.detail).toContain('svc-max');
    const models = server.seen.flatMap(({ body }) => /"model":"([\w-]+)"/.exec(body)?.[1] ?? []);
    expect(models.sort()).toEqual(['svc-max', 'svc-plus']);
  });

  test('works without a model list', async () => {
    const { results } = await check(ANSWER);
    expect(verdicts(results)).toEqual({ 'Chat models': 'ok', 'Chat answer': 'ok' });
  });

  test('names a configured model that is missing', async () => {
    const { results } = await check({
      ...ANSWER,
      '/v1/models': [200, { data: [{ id: 'svc-plus' }, { id: 'other' }] }],
    });
    expect(results[0]).toMatchObject({ verdict: 'warning', detail: 'not listed: svc-max' });
    expect(results[0]?.nextStep).toContain('svc-plus, other');
  });

  test('reports an unlisted CHAT_MODEL as a fault, and suggests the listed ones', async () => {
    const { results } = await check({ ...ANSWER, '/v1/models': [200, { data: [{ id: 'svc-max' }] }] });
    expect(results[0]).toMatchObject({ verdict: 'fault', detail: 'not listed: svc-plus' });
    expect(results[0]?.nextStep).toBe('Choose CHAT_MODELS from: svc-max');
  });

  test.each([
    [401, 'CHAT_API_KEY'],
    [404, '/v1'],
    [429, 'limit'],
    [503, 'Contact the operator'],
  ])('names the next step for %i', async (status, nextStep) => {
    const { results } = await check({ ...LIST, '/v1/chat/completions': status });
    expect(results[1]).toMatchObject({ verdict: 'fault', detail: `answers ${status}` });
    expect(results[1]?.nextStep).toContain(nextStep);
  });

  test('reports a web page in place of an answer as a fault', async () => {
    const { results } = await check({ ...LIST, '/v1/chat/completions': [200, '<html>'] });
    expect(results[1]).toMatchObject({ verdict: 'fault', detail: 'the response contains no answer' });
  });

  test('reports an unavailable service as a fault', async () => {
    const results = await checkChat({ ...chat, baseUrl: `http://127.0.0.1:${CLOSED_PORT}/v1` });
    expect(results[1]).toMatchObject({ verdict: 'fault', detail: 'cannot be reached (ECONNREFUSED)' });
  });
});

describe('the check of the sign-in service', () => {
  const check = async (status: number) => {
    const server = await serve({ '/oauth2.0/authorize': status });
    const options = { authUrl: server.url, clientId: 'parley', publicUrl: 'https://bot.test' };
    return { result: (await checkSignIn(options))[0], seen: server.seen };
  };

  test('opens it with the configured client and address', async () => {
    const { result, seen } = await check(200);
    expect(result).toMatchObject({ verdict: 'ok' });
    const query = new URL(seen[0]?.url ?? '', 'http://x').searchParams;
    expect(query.get('client_id')).toBe('parley');
    expect(query.get('redirect_uri')).toBe('https://bot.test/oauth/callback');
  });

  test.each([
    [302, 'ok'],
    [400, 'warning'],
    [500, 'fault'],
  ])('reports %i as %s', async (status, verdict) => {
    expect((await check(status)).result).toMatchObject({ verdict });
  });

  test('reports an address that does not exist as a wrong SIGN_IN_URL, not as a problem of the client', async () => {
    const { result } = await check(404);
    expect(result).toMatchObject({ verdict: 'fault', nextStep: expect.stringContaining('SIGN_IN_URL') });
    expect(result?.nextStep).not.toContain('SIGN_IN_CLIENT_ID');
  });

  test('reports an unavailable service as a fault', async () => {
    const authUrl = `http://127.0.0.1:${CLOSED_PORT}`;
    const [result] = await checkSignIn({ authUrl, clientId: 'parley', publicUrl: 'https://bot.test' });
    expect(result).toMatchObject({ verdict: 'fault', nextStep: expect.stringContaining('SIGN_IN_URL') });
  });
});

describe('the check of the public address', () => {
  const check = async (answers: Answers) => {
    const { url } = await serve(answers);
    return verdicts(await checkPublicUrl({ publicUrl: url, platforms: ['wecom'] }));
  };

  test('accepts an address that leads to the bot and its webhooks', async () => {
    const found = await check({ '/healthz': 200, '/webhooks/wecom': 400 });
    expect(found).toEqual({ 'Public address': 'ok', 'Webhook wecom': 'ok' });
  });

  test('accepts an address without a public health page, and falls back to that page only after a 404', async () => {
    const inside = await check({ '/webhooks/whose': 200, '/healthz': 404, '/webhooks/wecom': 400 });
    expect(inside).toEqual({ 'Public address': 'ok', 'Webhook wecom': 'ok' });
    expect(await check({ '/webhooks/whose': 404, '/healthz': 404 })).toEqual({ 'Public address': 'fault' });
    expect(await check({ '/webhooks/whose': 502, '/healthz': 200 })).toEqual({ 'Public address': 'fault' });
  });

  test('reports a proxy that does not forward webhooks as a fault', async () => {
    expect(await check({ '/healthz': 200, '/webhooks/wecom': 404 })).toMatchObject({ 'Webhook wecom': 'fault' });
    expect(await check({ '/healthz': 200, '/webhooks/wecom': 200 })).toMatchObject({ 'Webhook wecom': 'fault' });
    expect(await check({ '/healthz': 502 })).toEqual({ 'Public address': 'fault' });
  });

  test('reports a proxy that does not forward the sign-in pages, or redirects in a circle, as a fault', async () => {
    const signInPages = async (status: number) => {
      const { url } = await serve({ '/healthz': 200, '/sign-in/confirm': status });
      const results = await checkPublicUrl({ publicUrl: url, platforms: [], hasSignIn: true });
      return results.find(({ name }) => name === 'Sign-in pages');
    };
    expect(await signInPages(410)).toMatchObject({ verdict: 'ok' });
    expect(await signInPages(307)).toMatchObject({ verdict: 'fault', nextStep: expect.stringMatching(/Host.*HOPS/) });
    expect(await signInPages(404)).toMatchObject({ verdict: 'fault', nextStep: expect.stringContaining('/sign-in') });
    expect(await signInPages(502)).toMatchObject({ verdict: 'fault' });
  });

  test('warns about a bot that is not running, and reports a name that does not resolve as a fault', async () => {
    const here = await checkPublicUrl({ publicUrl: `http://127.0.0.1:${CLOSED_PORT}`, platforms: [] });
    expect(here[0]).toMatchObject({ verdict: 'warning' });
    const nowhere = await checkPublicUrl({ publicUrl: 'https://parley.invalid', platforms: [] });
    expect(nowhere[0]).toMatchObject({ verdict: 'fault' });
  });
});

describe('the check of the collector of traces', () => {
  const SECRETS = { tracingHeaders: 'x-key=secret-key' };
  const to = (endpoint: string) => ({ endpoint, serviceName: undefined, sampler: undefined, samplerShare: undefined });

  test('sends an export without spans, with the headers of the settings', async () => {
    const { url, seen } = await serve({ '/v1/traces': 200 });
    const headers = { tracingHeaders: 'authorization=Bearer%20secret-key' };
    const host = new URL(url).host;
    expect(await checkCollector(to(url), headers)).toEqual([
      { name: 'Traces', verdict: 'ok', detail: `${host} accepts traces` },
    ]);
    expect(seen).toEqual([{ method: 'POST', url: '/v1/traces', authorization: 'Bearer secret-key', body: '' }]);
  });

  test('warns of a refusal and of an unreachable collector, without the key', async () => {
    const { url } = await serve({ '/v1/traces': [401, 'wrong secret-key'] });
    const gone = `http://127.0.0.1:${CLOSED_PORT}`;
    const results = [...(await checkCollector(to(url), SECRETS)), ...(await checkCollector(to(gone), SECRETS))];
    expect(results.map(({ verdict, detail }) => [verdict, detail.slice(detail.indexOf(' '))])).toEqual([
      ['warning', ' does not accept traces (401)'],
      ['warning', ' does not accept traces (ECONNREFUSED)'],
    ]);
    expect(JSON.stringify(results)).not.toContain('secret-key');
  }, 30_000);
});
