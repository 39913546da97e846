import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, type ListeningServer } from '../../../src/shared/http/http-server.ts';

/** A response that replaces the valid one. */
export interface Scripted {
  delayMs?: number;
  status?: number;
  body?: string;
}

export interface StandInService {
  readonly authUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The account of browsers without an `x-account` header. */
  account: string;
  /** Whether `state` is returned. */
  echoesState: boolean;
  givesRefreshToken: boolean;
  /** Whether people decline at the consent page. */
  denies: boolean;
  /** Replaces the response to a token, refresh or profile request; undefined for the valid response. */
  scripted: {
    token?: () => Scripted | undefined;
    refresh?: () => Scripted | undefined;
    profile?: () => Scripted | undefined;
  };
  /** Overrides of profile fields by account. */
  profiles: Map<string, Record<string, unknown>>;
  readonly seen: { authorize: URLSearchParams[]; codes: string[]; refreshes: string[]; profiles: number };
  /** Issues a code for an account; bound to a PKCE challenge, if given. */
  mintCode(account: string, challenge?: string): string;
  close(): Promise<void>;
}

interface Grant {
  account: string;
  challenge?: string;
}

/** A small sign-in service that follows the specification, with scriptable faults. */
export async function startStandInService(): Promise<StandInService> {
  const codes = new Map<string, Grant>();
  const accessTokens = new Map<string, string>();
  const refreshTokens = new Map<string, string>();
  const service: Omit<StandInService, 'authUrl' | 'close'> = {
    clientId: 'parley',
    clientSecret: 'secret-of-parley-7f3a',
    account: '20001',
    echoesState: true,
    givesRefreshToken: true,
    denies: false,
    scripted: {},
    profiles: new Map(),
    seen: { authorize: [], codes: [], refreshes: [], profiles: 0 },
    mintCode(account, challenge) {
      const code = `OC-${randomBytes(12).toString('hex')}`;
      codes.set(code, challenge === undefined ? { account } : { account, challenge });
      return code;
    },
  };

  const tokensFor = (account: string) => {
    const [accessToken, refreshToken] = [
      `AT:${randomBytes(12).toString('hex')}`,
      `RT:${randomBytes(12).toString('hex')}`,
    ];
    accessTokens.set(accessToken, account);
    refreshTokens.set(refreshToken, account);
    const refresh = service.givesRefreshToken ? { refresh_token: refreshToken } : {};
    return { access_token: accessToken, token_type: 'bearer', expires_in: 7200, ...refresh };
  };

  const authorize = (request: IncomingMessage, query: URLSearchParams, response: ServerResponse) => {
    service.seen.authorize.push(query);
    const account = String(request.headers['x-account'] ?? service.account);
    const target = new URL(query.get('redirect_uri') ?? '');
    if (service.denies) target.searchParams.set('error', 'access_denied');
    else target.searchParams.set('code', service.mintCode(account, query.get('code_challenge') ?? undefined));
    if (service.echoesState) target.searchParams.set('state', query.get('state') ?? '');
    response.writeHead(302, { location: target.href }).end();
  };

  const exchange = (form: URLSearchParams): [number, object] => {
    const code = form.get('code') ?? '';
    const grant = codes.get(code);
    codes.delete(code);
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!grant || (grant.challenge !== undefined && grant.challenge !== verifier))
      return [400, { error: 'invalid_grant' }];
    return [200, tokensFor(grant.account)];
  };

  const refresh = (form: URLSearchParams): [number, object] => {
    const account = refreshTokens.get(form.get('refresh_token') ?? '');
    if (account === undefined) return [400, { error: 'invalid_grant' }];
    const accessToken = `AT:${randomBytes(12).toString('hex')}`;
    accessTokens.set(accessToken, account);
    return [200, { access_token: accessToken, token_type: 'Bearer', expires_in: 7200, scope: 'SVC-Basic' }];
  };

  const token = async (request: IncomingMessage, response: ServerResponse) => {
    const form = new URLSearchParams(await bodyOf(request));
    const isRefresh = form.get('grant_type') === 'refresh_token';
    if (isRefresh) service.seen.refreshes.push(form.get('refresh_token') ?? '');
    else service.seen.codes.push(form.get('code') ?? '');
    const scripted = isRefresh ? service.scripted.refresh?.() : service.scripted.token?.();
    const isClient = form.get('client_id') === service.clientId && form.get('client_secret') === service.clientSecret;
    const [status, body] = isClient ? (isRefresh ? refresh(form) : exchange(form)) : [401, { error: 'invalid_client' }];
    await answer(response, status, body, scripted);
  };

  const profile = async (request: IncomingMessage, response: ServerResponse) => {
    service.seen.profiles += 1;
    const account = accessTokens.get((request.headers.authorization ?? '').replace('Bearer ', ''));
    const body = {
      id: account,
      active: true,
      client_id: service.clientId,
      parentIdentityInfo: { name: 'staff', code: 'JG' },
      attributes: { BMBM: 'D01', BMMC: 'Library', XGH: account, XM: `Person ${account}`, objectId: `o-${account}` },
      ...service.profiles.get(account ?? ''),
    };
    await answer(response, account === undefined ? 401 : 200, body, service.scripted.profile?.());
  };

  const server: ListeningServer = await listen(
    (request, response) => {
      const url = new URL(request.url ?? '/', 'http://service');
      if (url.pathname === '/auth/oauth2.0/authorize') return authorize(request, url.searchParams, response);
      if (url.pathname === '/auth/oauth2.0/accessToken') return void token(request, response);
      if (url.pathname === '/auth/oauth2.0/profile') return void profile(request, response);
      response.writeHead(404).end();
    },
    0,
    '127.0.0.1',
  );
  return Object.assign(service, { authUrl: `${server.url}/auth`, close: () => server.close() });
}

async function answer(response: ServerResponse, status: number, body: object, scripted: Scripted = {}): Promise<void> {
  // A pending delay does not keep the test process alive.
  if (scripted.delayMs) await new Promise((resolve) => setTimeout(resolve, scripted.delayMs).unref());
  response.writeHead(scripted.status ?? (scripted.body === undefined ? status : 200), {
    'content-type': 'application/json',
  });
  response.end(scripted.body ?? JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
