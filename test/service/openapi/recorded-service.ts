import { got, type Method, type Response } from 'got';
import { API_KEY, authorizePath, Browser, CALLBACK, startTestService, type TestService } from '../support.ts';
import type { RedisClient } from '../../../src/shared/redis/redis.ts';

type ServiceOptions = Parameters<typeof startTestService>[1];

export interface Sending {
  method?: Method;
  headers?: Record<string, string | undefined>;
  json?: unknown;
  body?: string | Buffer;
  form?: Record<string, string>;
}

/** The form that exchanges a code, without the code. */
export const CODE_FORM = {
  grant_type: 'authorization_code',
  client_id: 'parley',
  client_secret: 'the-secret',
  redirect_uri: CALLBACK,
};

/** A real service that records all its answers. */
export class RecordedService {
  readonly answers: Response<string>[] = [];
  readonly #service: TestService;

  private constructor(service: TestService) {
    this.#service = service;
  }

  static async start(redis: RedisClient, options: ServiceOptions = {}): Promise<RecordedService> {
    return new RecordedService(await startTestService(redis, options));
  }

  get url(): string {
    return this.#service.url;
  }

  async close(): Promise<void> {
    await this.#service.close();
  }

  async send(path: string, { json, ...sending }: Sending = {}): Promise<Response<string>> {
    const answer = await got(`${this.url}${path}`, {
      ...sending,
      ...(json === undefined ? {} : { json: json as Record<string, unknown> }),
      followRedirect: false,
      throwHttpErrors: false,
      retry: { limit: 0 },
    });
    this.answers.push(answer);
    return answer;
  }

  /** Sends a chat request with a key. */
  async chat(json: unknown, key = API_KEY): Promise<Response<string>> {
    const headers = { authorization: `Bearer ${key}` };
    return this.send('/v1/chat/completions', { method: 'POST', headers, json });
  }

  async token(form: Record<string, string>): Promise<Response<string>> {
    return this.send('/oauth2.0/accessToken', { method: 'POST', form });
  }

  browser(headers: Record<string, string> = {}): RecordedBrowser {
    return new RecordedBrowser(this.url, headers, this.answers);
  }

  /** Signs Alice in and gives consent. */
  async obtainCode(typed: Record<string, string> = {}): Promise<string> {
    const browser = this.browser();
    const consent = await browser.follow(await browser.logIn(authorizePath({ state: 's' })));
    const back = await browser.submit(consent, { decision: 'allow', ...typed });
    return new URL(back.headers.location ?? 'missing:').searchParams.get('code') ?? '';
  }
}

/** A browser that records all answers. */
export class RecordedBrowser extends Browser {
  readonly #answers: Response<string>[];

  constructor(base: string, headers: Record<string, string>, answers: Response<string>[]) {
    super(base, headers);
    this.#answers = answers;
  }

  override async get(path: string): Promise<Response<string>> {
    return this.#keep(await super.get(path));
  }

  override async post(...sending: Parameters<Browser['post']>): Promise<Response<string>> {
    return this.#keep(await super.post(...sending));
  }

  async logIn(path: string, password = 'alice-pass'): Promise<Response<string>> {
    return this.submit(await this.get(path), { username: 'alice', password });
  }

  #keep(answer: Response<string>): Response<string> {
    this.#answers.push(answer);
    return answer;
  }
}
