import { randomBytes } from 'node:crypto';
import { got, type OptionsInit } from 'got';
import type { RedisClient } from '../../src/shared/redis/redis.ts';
import type { Deployment } from '../support/deployment.ts';

/** An unauthenticated request that carries as much storable data as possible. */
export interface UnprovenRequest {
  name: string;
  url: string;
  options?: OptionsInit;
}

/** What the requests left behind in Redis. */
export interface Cost {
  bytesPerRequest: number;
  /** Milliseconds; Infinity if any key never expires. */
  maxLifeMs: number;
  keys: number;
}

const IN_WECOM = { 'user-agent': 'Mozilla/5.0 (iPhone) AppleWebKit/605 Mobile wxwork/4.1 MicroMessenger/7.0.1' };
const token = () => randomBytes(32).toString('base64url');
const hex = () => randomBytes(32).toString('hex');
const filling = (chars: number) => randomBytes(chars).toString('base64url').slice(0, chars);

/** One request for every page of the bot and the service, each with fresh random values of the maximum accepted length. */
export function unprovenRequests({ botUrl, service, env }: Deployment): UnprovenRequest[] {
  const query = (words: Record<string, string>) => new URLSearchParams(words).toString();
  const authorize = (state: string) =>
    `/oauth2.0/authorize?${query({ response_type: 'code', client_id: env['SIGN_IN_CLIENT_ID'] ?? '', redirect_uri: `${botUrl}/oauth/callback`, state })}`;
  const bot = (name: string, path: string, options: OptionsInit = {}): UnprovenRequest => ({
    name: `bot ${name}`,
    url: botUrl + path,
    options: { ...options, headers: { cookie: `__Host-bs=${token()}`, ...options.headers } },
  });
  const own = (name: string, path: string, options: OptionsInit = {}): UnprovenRequest => ({
    name: `service ${name}`,
    url: service.url + path,
    options: {
      ...options,
      headers: { cookie: `__Host-svc-browser=${token()}; __Host-svc-session=${token()}`, ...options.headers },
    },
  });
  const post = (form: Record<string, string>): OptionsInit => ({ method: 'POST', form });
  const body = JSON.stringify({ encrypt: filling(200_000), type: 'event_callback' });
  return [
    bot('GET /link', `/link/${token()}`),
    bot('POST /link/start', `/link/${token()}/start`, post({ csrf: filling(7_000) })),
    bot('POST /sign-in/again', '/sign-in/again', post({ ticket: hex(), csrf: hex() })),
    bot('GET /oauth/callback', `/oauth/callback?${query({ code: filling(1_000), state: filling(200) })}`),
    bot('GET /oauth/callback error', `/oauth/callback?${query({ error: filling(3_000), state: filling(200) })}`),
    bot('GET platform callback', `/oauth/platform/wecom/callback?${query({ code: filling(1_000), state: hex() })}`),
    bot('GET /sign-in/confirm', '/sign-in/confirm'),
    bot('GET /sign-in/code-typed', '/sign-in/code-typed'),
    bot('GET webhook', '/webhooks/wecom'),
    bot('POST /sign-in/confirm', '/sign-in/confirm', post({ csrf: filling(7_000) })),
    bot('POST /sign-in/new-code', '/sign-in/new-code', post({ csrf: filling(7_000) })),
    bot('POST /sign-in/cancel', '/sign-in/cancel', post({ csrf: filling(7_000) })),
    bot('POST webhook', `/webhooks/wecom?${query({ msg_signature: hex().slice(0, 40), timestamp: '1', nonce: '2' })}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    }),
    bot(
      'GET webhook',
      `/webhooks/wecom?${query({ msg_signature: hex().slice(0, 40), timestamp: '1', nonce: '2', echostr: filling(3_000) })}`,
    ),
    bot('GET anything', `/${filling(3_000)}`),
    bot('GET /readyz', '/readyz'),
    own('GET /', '/'),
    own('GET /readyz', '/readyz'),
    own('GET /account', '/account'),
    own('GET /account in WeCom', '/account', { headers: IN_WECOM }),
    own('GET /logout', `/logout?service=${filling(3_000)}`),
    own('GET authorize', authorize(filling(2_000))),
    own('GET authorize in WeCom', authorize(filling(2_000)), { headers: IN_WECOM }),
    own('GET /sign-in', `/sign-in?${query({ return_to: authorize(filling(2_000)) })}`),
    own('GET /sign-in/wecom', `/sign-in/wecom?${query({ return_to: `/oauth2.0/authorize?${filling(7_000)}` })}`),
    own(
      'GET /sign-in/wecom, shorter',
      `/sign-in/wecom?${query({ return_to: `/oauth2.0/authorize?${filling(2_400)}` })}`,
    ),
    own('GET /sign-in/wecom/callback', `/sign-in/wecom/callback?${query({ code: filling(500), state: hex() })}`),
    own(
      'POST login',
      '/oauth2.0/login',
      post({ username: filling(1_000), password: filling(1_000), csrf: filling(500) }),
    ),
    own('POST decision', '/oauth2.0/decision', post({ csrf: filling(7_000), decision: 'allow' })),
    own('POST withdraw', '/account/withdraw', post({ csrf: filling(7_000) })),
    own(
      'POST accessToken',
      '/oauth2.0/accessToken',
      post({
        grant_type: 'authorization_code',
        client_id: env['SIGN_IN_CLIENT_ID'] ?? '',
        client_secret: 'wrong',
        redirect_uri: `${botUrl}/oauth/callback`,
        code: filling(4_000),
      }),
    ),
    own('GET profile', '/oauth2.0/profile', { headers: { authorization: `Bearer ${filling(4_000)}` } }),
    own('POST chat', '/v1/chat/completions', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${filling(200)}` },
    }),
  ];
}

/** Submits the login form with an unknown name and password. */
export async function tryLogin({ service }: Deployment): Promise<void> {
  const page = await send({ name: '', url: `${service.url}/sign-in?return_to=/account` });
  const cookie = (page.headers['set-cookie'] ?? []).map((line) => line.split(';', 1)[0]).join('; ');
  const csrf = /name="csrf" value="([^"]*)"/.exec(page.body)?.[1] ?? '';
  const form = { username: filling(1_000), password: filling(1_000), csrf };
  await send({
    name: '',
    url: `${service.url}/oauth2.0/login`,
    options: { method: 'POST', form, headers: { cookie } },
  });
}

/** Leaves for WeCom's sign-in and returns with an invalid code. */
export async function comeBackWithoutCode({ service }: Deployment): Promise<void> {
  const away = await send({ name: '', url: `${service.url}/account`, options: { headers: IN_WECOM } });
  const cookie = (away.headers['set-cookie'] ?? []).map((line) => line.split(';', 1)[0]).join('; ');
  const state = new URL(away.headers.location ?? 'missing:').searchParams.get('state') ?? '';
  const query = new URLSearchParams({ code: filling(500), state }).toString();
  await send({ name: '', url: `${service.url}/sign-in/wecom/callback?${query}`, options: { headers: { cookie } } });
}

export function send({ url, options }: UnprovenRequest) {
  return got(url, {
    ...options,
    throwHttpErrors: false,
    followRedirect: false,
    retry: { limit: 0 },
    timeout: { request: 10_000 },
  } as OptionsInit & { isStream?: false; resolveBodyOnly?: false; responseType?: 'text' });
}

/** Measures the keys that the requests added to Redis: names, values and overhead. */
export async function costInRedis(
  redis: RedisClient,
  requests: readonly (() => Promise<unknown>)[],
  atOnce = 10,
): Promise<Cost> {
  const before = new Set(await redis.keys('*'));
  for (let first = 0; first < requests.length; first += atOnce)
    await Promise.all(requests.slice(first, first + atOnce).map((request) => request()));
  const left = (await redis.keys('*')).filter((key) => !before.has(key) && !isOurOwn(key));
  const sizes = await Promise.all(left.map((key) => redis.call('MEMORY', 'USAGE', key) as Promise<number | null>));
  const lives = await Promise.all(left.map((key) => redis.pttl(key)));
  const bytes = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  const longest = lives.map((life) => (life === -1 ? Infinity : life));
  return {
    bytesPerRequest: Math.ceil(bytes / requests.length),
    maxLifeMs: Math.max(0, ...longest),
    keys: left.length,
  };
}

/** Keys that an idle bot writes by itself: queue statistics, the workers' presence and a Redis probe. */
function isOurOwn(key: string): boolean {
  return /^(?:wakes:|\{wake|\{isolation\}:workers|\{service\}:keys|\{summaries|messenger:|readyz|probe|\{id\}:(?:rechecks|key-sweep))/.test(
    key,
  );
}
