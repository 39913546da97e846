import { z } from 'zod';
import type { NowMs } from '../../../shared/clock.ts';
import { outsideCall } from '../../../shared/fail-point.ts';
import { sha256Hex } from '../../../shared/crypto/ids.ts';
import type { Log } from '../../../shared/log.ts';
import { requestBounded } from '../bounded-request.ts';
import { FENCE_VALID_MS } from '../platform.ts';
import { PlatformError } from '../platform-error.ts';
import { RATE_LIMITED } from './refusals.ts';
import { AccessToken, type AccessTokenStore } from './access-token.ts';
import { parseJson } from '../../../shared/parse-json.ts';

/** Credentials of the self-built app, which signs people in on the web, converts ids and sends unsolicited messages. */
export interface WecomAgent {
  corpId: string;
  agentId: string;
  secret: string;
}

export interface WecomApiOptions {
  /** Base address without a trailing slash. */
  apiUrl: string;
  agent: WecomAgent | undefined;
  tokenStore: AccessTokenStore;
  nowMs: NowMs;
  log: Log;
}

interface ApiCall {
  method: 'GET' | 'POST';
  /** Path below the base address, such as `/cgi-bin/message/send`. */
  path: string;
  query?: Record<string, string>;
  json?: object;
  /** The call shows something to a person. It is sent within two seconds of its fence check, or never. */
  isPost?: true;
}

/** Error codes for an expired or invalid token: a new token is fetched and the call is repeated once. */
const TOKEN_REFUSED = new Set([40_014, 42_001, 41_001]);

/** HTTP status with which the gateway reports a rate limit, instead of an `errcode`. */
const TOO_MANY_REQUESTS = 429;

const answerShape = z.looseObject({ errcode: z.number().default(0) });
const tokenShape = z.object({ access_token: z.string().min(1).max(512), expires_in: z.number().positive() });

/** WeCom's answer to a call. `errcode` gives the result; the HTTP status does not. */
export type WecomAnswer = z.infer<typeof answerShape>;

export interface WecomApi {
  /**
   * Makes a call with the app's access token.
   * @returns the answer, whatever its `errcode`. @throws PlatformError `unreachable`, `unsent`, `not_configured`, `refused`
   */
  call(call: ApiCall): Promise<WecomAnswer>;
  /**
   * Posts to an address that contains its own authorisation. @returns the answer. @throws PlatformError `unreachable`,
   * `unsent`
   */
  postTo(url: URL, json: object): Promise<WecomAnswer>;
}

export function createWecomApi(options: WecomApiOptions): WecomApi {
  const { agent, tokenStore, nowMs, log } = options;
  const accessToken = new AccessToken({
    key: `wecom:${sha256Hex(`${agent?.corpId ?? ''}|${agent?.agentId ?? ''}`).slice(0, 32)}`,
    store: tokenStore,
    fetchToken: () => fetchToken(options),
    nowMs,
    log,
  });
  const send = (call: ApiCall, token: string) =>
    ask(addressOf(options.apiUrl, call.path, { access_token: token, ...call.query }), call);
  return {
    async call(call) {
      const token = await accessToken.get();
      const answer = await send(call, token);
      return TOKEN_REFUSED.has(answer.errcode) ? send(call, await accessToken.get(token)) : answer;
    },
    postTo: (url, json) => ask(url, { method: 'POST', json, isPost: true }),
  };
}

/** @throws PlatformError with the platform's code if the answer reports an error */
export function assertAnswered(answer: WecomAnswer, path: string): WecomAnswer {
  if (answer.errcode === 0) return answer;
  throw new PlatformError('refused', `WeCom refused ${path} (errcode ${answer.errcode})`, answer.errcode);
}

async function fetchToken({ agent, apiUrl }: WecomApiOptions): Promise<{ token: string; expiresInSec: number }> {
  if (!agent)
    throw new PlatformError('not_configured', 'WECOM_CORP_ID, WECOM_AGENT_ID and WECOM_AGENT_SECRET are not set');
  const path = '/cgi-bin/gettoken';
  const url = addressOf(apiUrl, path, { corpid: agent.corpId, corpsecret: agent.secret });
  const answer = tokenShape.safeParse(assertAnswered(await ask(url, { method: 'GET' }), path));
  if (!answer.success) throw new PlatformError('unreachable', `GET ${url.host}${url.pathname} returned no token`);
  return { token: answer.data.access_token, expiresInSec: answer.data.expires_in };
}

function addressOf(apiUrl: string, path: string, query: Record<string, string>): URL {
  return new URL(`${apiUrl}${path}?${new URLSearchParams(query).toString()}`);
}

async function ask(
  url: URL,
  { method, json, isPost }: Pick<ApiCall, 'method' | 'json' | 'isPost'>,
): Promise<WecomAnswer> {
  const { status, body } = await outsideCall(`wecom.${url.pathname.split('/').at(-1) ?? ''}`, () =>
    requestBounded(url, { method, json, leavesWithinMs: isPost ? FENCE_VALID_MS : undefined }),
  );
  if (status === TOO_MANY_REQUESTS) return { errcode: RATE_LIMITED };
  const answer = answerShape.safeParse(parseJson(body));
  if (status !== 200 || !answer.success) {
    throw new PlatformError('unreachable', `${method} ${url.host}${url.pathname} answered ${status} without a result`);
  }
  return answer.data;
}
