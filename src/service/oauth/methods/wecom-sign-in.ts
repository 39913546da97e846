import { z } from 'zod';
import { SECOND_MS } from '../../../shared/clock.ts';
import { callHttp, type HttpResponse } from '../../../shared/http/call-http.ts';
import { readJsonObject } from '../../../shared/sign-in/json-answer.ts';
import { PageError } from '../sign-in-errors.ts';
import type { Store } from '../store.ts';
import type {
  ProviderCallback,
  RedirectTarget,
  RedirectRequest,
  MakeMessagingApp,
  MessagingAppSignIn,
} from './redirect-sign-in.ts';

/** The self-built app through which WeCom identifies the person who opened a page. */
export interface WecomAppOptions {
  corpId: string;
  agentId: string;
  agentSecret: string;
  /** Base URL of the server API, `https://qyapi.weixin.qq.com`. */
  apiUrl: string;
  /** Base URL of the web sign-in, `https://open.weixin.qq.com`. */
  openUrl: string;
}

const TOKEN_REFUSED = new Set([40014, 42001, 41001]);
const MAX_CODE_CHARS = 512;

const tokenSchema = z.object({
  errcode: z.number().default(0),
  access_token: z.string().min(1).optional(),
  expires_in: z.number().default(7_200),
});
const userSchema = z.object({
  errcode: z.number().default(0),
  userid: z.string().optional(),
  UserId: z.string().optional(),
});

/** WeCom's web sign-in through a self-built app. */
export function wecomSignIn(app: WecomAppOptions): MakeMessagingApp {
  return (store) => new WecomSignIn(app, store);
}

/** WeCom's web sign-in without user interaction (snsapi_base). */
class WecomSignIn implements MessagingAppSignIn {
  readonly name = 'wecom';
  readonly ignoresCase = true;
  readonly #app: WecomAppOptions;
  readonly #store: Store;

  constructor(app: WecomAppOptions, store: Store) {
    this.#app = app;
    this.#store = store;
  }

  isOpenIn(userAgent: string): boolean {
    return /wxwork\//i.test(userAgent);
  }

  /** `forcesLogin` has no effect: inside WeCom only the current user can sign in. */
  async startRedirect({ callbackUrl, state }: RedirectRequest): Promise<RedirectTarget> {
    const { corpId, agentId, openUrl } = this.#app;
    const query = new URLSearchParams({
      appid: corpId,
      redirect_uri: callbackUrl,
      response_type: 'code',
      scope: 'snsapi_base',
      state,
      agentid: agentId,
    });
    return {
      location: `${openUrl.replace(/(?<!\/)\/+$/, '')}/connect/oauth2/authorize?${query.toString()}#wechat_redirect`,
    };
  }

  /** The user id for the returned code; undefined if WeCom reports that the person is not a member. */
  async identify({ query }: ProviderCallback): Promise<{ userId: string } | undefined> {
    const code = query.get('code') ?? '';
    if (code === '' || code.length > MAX_CODE_CHARS)
      throw new PageError('sign_in_lost', 'The return from WeCom contains no code');
    const answer = await this.#ask(code, await this.#token(false));
    const user = TOKEN_REFUSED.has(answer.errcode) ? await this.#ask(code, await this.#token(true)) : answer;
    if (user.errcode !== 0) throw failed(`getuserinfo errcode ${user.errcode}`);
    const userId = user.userid ?? user.UserId;
    return userId === undefined ? undefined : { userId };
  }

  #ask(code: string, token: string): Promise<z.infer<typeof userSchema>> {
    return this.#get('cgi-bin/auth/getuserinfo', { access_token: token, code }, userSchema);
  }

  /** The app's token, stored in Redis (sealed) so that all processes share one. */
  async #token(refetch: boolean): Promise<string> {
    const { corpId, agentId, agentSecret } = this.#app;
    const key = this.#store.key('wecom-token', corpId, agentId);
    const kept = refetch ? null : await this.#store.use((redis) => redis.get(key));
    const opened = kept === null ? undefined : this.#store.open(key, kept);
    if (opened !== undefined) return opened;
    const {
      errcode,
      access_token: token,
      expires_in: lifeSec,
    } = await this.#get('cgi-bin/gettoken', { corpid: corpId, corpsecret: agentSecret }, tokenSchema);
    if (errcode !== 0 || token === undefined) throw failed(`gettoken errcode ${errcode}`);
    const keepMs = Math.max(1, lifeSec * 0.9) * SECOND_MS;
    const sealed = this.#store.seal(key, token);
    await this.#store.use((redis) => redis.set(key, sealed, 'PX', Math.ceil(keepMs)));
    return token;
  }

  async #get<Reply>(path: string, query: Record<string, string>, schema: z.ZodType<Reply>): Promise<Reply> {
    let answer: HttpResponse;
    try {
      const address = `${this.#app.apiUrl.replace(/(?<!\/)\/+$/, '')}/${path}?${new URLSearchParams(query).toString()}`;
      answer = await callHttp(address);
    } catch {
      throw failed(`${path} did not answer`);
    }
    const parsed = schema.safeParse(readJsonObject(answer.body.toString('utf8')));
    if (answer.status !== 200 || !parsed.success) throw failed(`${path} returned an invalid answer`);
    return parsed.data;
  }
}

function failed(what: string): PageError {
  return new PageError('sign_in_failed', `WeCom's web sign-in failed: ${what}`);
}
