import { shippedModels } from '../support/shipped-models.ts';
import { got, type Response } from 'got';
import type { RedisClient } from '../../src/shared/redis/redis.ts';
import { parseClientsFile } from '../../src/service/clients-file.ts';
import { parseDirectoryFile } from '../../src/service/directory-file.ts';
import type {
  ServedFiles,
  ServiceAddress,
  ServiceChat,
  ServiceEngine,
  ServiceHealth,
  ServiceOptions,
  ServiceSignIn,
} from '../../src/service/service-options.ts';
import { startService, type RunningService } from '../../src/service/start-service.ts';
import { recordingLog } from '../support/redis.ts';

export const API_KEY = 'sk-test-key-1';
export const CALLBACK = 'http://127.0.0.1:9/oauth/callback';
export const CLIENT = {
  client_id: 'parley',
  client_secret: 'the-secret',
  name: 'Parley bot',
  redirect_uris: [CALLBACK, 'http://127.0.0.1:9/with?x=1'],
};
const OTHER_CLIENT = {
  client_id: 'other',
  client_secret: 'other-secret',
  name: 'Other',
  redirect_uris: ['http://127.0.0.1:9/other'],
};

function person(username: string, name: string, id: string): object {
  return {
    username,
    password: `plain:${username}-pass`,
    profile: {
      id,
      active: true,
      parentIdentityInfo: { name: '教职工', code: 'JG' },
      attributes: { BMBM: '101', BMMC: 'Library', XGH: id, XM: name, objectId: `obj-${id}` },
    },
    messaging: { wecom: `${username}WeCom` },
  };
}

export const PEOPLE = [person('zhangwei', '张伟', '20190001'), person('alice', 'Alice Chen', '20190002')];

/** A clock that the test advances. */
export class Clock {
  ms = 1_800_000_000_000;
  readonly nowMs = (): number => this.ms;
}

export interface TestService extends RunningService {
  clock: Clock;
  logLines: string[];
}

/** All settings of the service that a test may override. */
export type TestServiceOptions = Partial<
  ServiceAddress & ServedFiles & ServiceChat & ServiceEngine & ServiceSignIn & ServiceHealth
> &
  Partial<Pick<ServiceOptions, 'keyRing' | 'nowMs'>>;

export async function startTestService(redis: RedisClient, overrides: TestServiceOptions = {}): Promise<TestService> {
  const clock = new Clock();
  const { log, lines } = recordingLog();
  const { port = 0, host = '127.0.0.1', publicUrl, trustedProxyHops, keyRing, metrics, prove } = overrides;
  const {
    apiKeys = [API_KEY, 'sk-test-key-2'],
    chatLimits,
    upstream,
    bareWords,
    messagingApps,
    loginLimits,
  } = overrides;
  const service = await startService({
    address: { port, host, publicUrl, trustedProxyHops },
    files: {
      models: overrides.models ?? shippedModels(),
      clients: overrides.clients ?? parseClientsFile(JSON.stringify([CLIENT, OTHER_CLIENT])),
      directory: overrides.directory ?? parseDirectoryFile(JSON.stringify(PEOPLE), { allowPlainPasswords: true }),
      institution: overrides.institution,
    },
    chat: { apiKeys, chatLimits },
    engine: {
      ...{ upstream, bareWords, docsDir: overrides.docsDir ?? '/nonexistent' },
      builtInPace: overrides.builtInPace ?? { tokensPerSec: Infinity },
    },
    signIn: {
      ...{ messagingApps, loginLimits, accessTokenSec: overrides.accessTokenSec ?? 7_200 },
      refreshTokenSec: overrides.refreshTokenSec ?? 30 * 86_400,
    },
    health: { metrics, prove },
    ...{ redis, keyRing, nowMs: overrides.nowMs ?? clock.nowMs, log },
  });
  return { ...service, clock, logLines: lines };
}

/** No limits, so that tests do not hit those of an API key. */
export const NO_LIMITS = { requestsPer10Sec: 1e9, maxConcurrent: 1e9 };

/** A minimal browser: it keeps cookies, reads forms, and follows redirects only on request. */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly #base: string;
  readonly #headers: Record<string, string>;

  constructor(base: string, headers: Record<string, string> = {}) {
    this.#base = base;
    this.#headers = headers;
  }

  async get(path: string): Promise<Response<string>> {
    return this.#send(path, {});
  }

  async post(
    path: string,
    form: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Response<string>> {
    return this.#send(path, { method: 'POST', form, headers });
  }

  /** Sends the page's only form with its hidden fields and the typed values. */
  async submit(page: Response<string>, typed: Record<string, string>): Promise<Response<string>> {
    const action = /<form[^>]*action="([^"]+)"/.exec(page.body)?.[1];
    const hidden = [...page.body.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
      ([, name, value]) => [name, value],
    );
    if (action === undefined) throw new Error(`no form on the page (status ${page.statusCode})`);
    return this.post(action, { ...(Object.fromEntries(hidden) as Record<string, string>), ...typed });
  }

  /** Follows one redirect of the service. */
  async follow(answer: Response<string>): Promise<Response<string>> {
    return this.get(answer.headers.location ?? 'missing-location');
  }

  async #send(
    path: string,
    options: { method?: 'POST'; form?: Record<string, string>; headers?: Record<string, string> },
  ): Promise<Response<string>> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...this.#headers, ...(cookie ? { cookie } : {}), ...options.headers };
    const answer = await got(new URL(path, this.#base), {
      ...options,
      headers,
      followRedirect: false,
      throwHttpErrors: false,
      retry: { limit: 0 },
    });
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (line.includes('Max-Age=0')) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }
}

export function authorizePath(parameters: Record<string, string> = {}): string {
  return `/oauth2.0/authorize?${new URLSearchParams({ response_type: 'code', client_id: 'parley', redirect_uri: CALLBACK, ...parameters }).toString()}`;
}

/** Signs a person in and gives consent. Returns the parameters of the redirect to the client. */
export async function obtainAnswer(
  browser: Browser,
  parameters: Record<string, string> = {},
  username = 'zhangwei',
): Promise<URLSearchParams> {
  const login = await browser.get(authorizePath(parameters));
  const signedIn = await browser.submit(login, { username, password: `${username}-pass` });
  const consent = await browser.follow(signedIn);
  const back = await browser.submit(consent, { decision: 'allow' });
  return new URL(back.headers.location ?? 'missing:').searchParams;
}

export async function obtainCode(
  service: RunningService,
  parameters: Record<string, string> = {},
  username = 'zhangwei',
): Promise<string> {
  return (await obtainAnswer(new Browser(service.url), parameters, username)).get('code') ?? '';
}

export interface JsonAnswer {
  status: number;
  headers: Response['headers'];
  body: Record<string, unknown>;
}

/** Posts to the token endpoint like a client. */
export async function postToken(service: RunningService, form: Record<string, string>): Promise<JsonAnswer> {
  const answer = await got.post(`${service.url}/oauth2.0/accessToken`, {
    form,
    throwHttpErrors: false,
    retry: { limit: 0 },
  });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: JSON.parse(answer.body) as Record<string, unknown>,
  };
}

export function exchange(
  service: RunningService,
  code: string,
  changes: Record<string, string> = {},
): Promise<JsonAnswer> {
  const form = {
    grant_type: 'authorization_code',
    client_id: 'parley',
    client_secret: 'the-secret',
    redirect_uri: CALLBACK,
    code,
    ...changes,
  };
  return postToken(service, form);
}

export async function getProfile(service: RunningService, accessToken: unknown): Promise<JsonAnswer> {
  const headers = { authorization: `Bearer ${String(accessToken)}` };
  const answer = await got(`${service.url}/oauth2.0/profile`, { headers, throwHttpErrors: false, retry: { limit: 0 } });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: JSON.parse(answer.body) as Record<string, unknown>,
  };
}
