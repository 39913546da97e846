import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen } from '../../../../src/shared/http/http-server.ts';

export interface Raw {
  status: number;
  body: string;
  type?: string;
}

/** Deviations of the test service from the specification. By default it follows the specification, including PKCE. */
export interface Ways {
  state?: 'echoed' | 'missing' | 'changed' | 'first time only';
  /** `ignored`, or `only asked` if a verifier without a challenge is accepted. */
  pkce?: 'enforced' | 'only asked' | 'ignored';
  codeLifeMs?: number;
  isCodeReusable?: boolean;
  secondUseRevokes?: boolean;
  expiresIn?: unknown;
  refresh?: 'same' | 'new' | 'none' | 'refused' | 'not renewed';
  /** The response to an authorize address with unknown parameters. */
  strangeParameters?: 'page' | 'error';
  /** The response to every code exchange. */
  token?: () => Raw;
  profile?: Record<string, unknown>;
  refusals?: 'json' | 'html' | 'own codes' | 'ok with an error';
  logoutRevokes?: boolean;
  logoutReturns?: boolean;
}

export interface ProbeStandIn {
  url: string;
  /** All secrets that it issued or received. */
  secrets: Set<string>;
  close(): Promise<void>;
}

export const CLIENT = { id: 'parley-probe', secret: 'client-secret-91ab44' };
export const PERSON = { id: '20210042', name: 'Zhang Wei the Tester' };
const SPECIFIED = ['response_type', 'client_id', 'redirect_uri', 'scope', 'state'];

/** A sign-in service for the probe, in whose browser a person is always signed in. */
export async function startProbeStandIn(ways: Ways = {}): Promise<ProbeStandIn> {
  const secrets = new Set<string>([CLIENT.secret]);
  const codes = new Map<string, { challenge: string | null; issuedAtMs: number; isUsed: boolean; tokens: string[] }>();
  const [live, refreshable] = [new Set<string>(), new Set<string>()];
  let authorized = 0;
  const secret = (prefix: string) => {
    const made = `${prefix}${randomBytes(15).toString('hex')}`;
    secrets.add(made);
    return made;
  };

  const authorize = (query: URLSearchParams, response: ServerResponse) => {
    authorized += 1;
    const target = new URL(query.get('redirect_uri') ?? '');
    const [state, isFirst] = [query.get('state') ?? '', authorized === 1];
    secrets.add(state);
    const isStrange = [...query.keys()].some((name) => !SPECIFIED.includes(name));
    if (isStrange && ways.strangeParameters === 'page') return send(response, { status: 400, body: '<h1>No</h1>' });
    if (isStrange && ways.strangeParameters === 'error') target.searchParams.set('error', 'invalid_request');
    else {
      const code = secret('OC-');
      codes.set(code, {
        challenge: query.get('code_challenge'),
        issuedAtMs: performance.now(),
        isUsed: false,
        tokens: [],
      });
      target.searchParams.set('code', code);
    }
    const how = ways.state ?? 'echoed';
    if (how === 'echoed' || (how === 'first time only' && isFirst)) target.searchParams.set('state', state);
    if (how === 'changed') target.searchParams.set('state', state.slice(1));
    response.writeHead(302, { location: target.href }).end();
  };

  const refuse = (error: string, status = 400): Raw => {
    switch (ways.refusals ?? 'json') {
      case 'html':
        return { status: 500, body: '<html>Whitelabel</html>', type: 'text/html' };
      case 'own codes':
        return { status, body: JSON.stringify({ error: 'E-40013', trace: secret('trace') }) };
      case 'ok with an error':
        return { status: 200, body: JSON.stringify({ error }) };
      case 'json':
        return { status, body: JSON.stringify({ error, error_description: `about ${secret('described')}` }) };
    }
  };

  const give = (withRefresh: boolean, tokens: string[] = []): Raw => {
    const access = secret('AT-');
    live.add(access);
    tokens.push(access);
    const body: Record<string, unknown> = {
      access_token: access,
      token_type: 'bearer',
      expires_in: 'expiresIn' in ways ? ways.expiresIn : 7200,
    };
    if (withRefresh && ways.refresh !== 'none') {
      const refresh = secret('RT-');
      refreshable.add(refresh);
      body['refresh_token'] = refresh;
    }
    return { status: 200, body: JSON.stringify(body) };
  };

  const exchange = (form: URLSearchParams): Raw => {
    if (form.get('client_secret') !== CLIENT.secret) return refuse('invalid_client', 401);
    if (form.get('grant_type') === 'refresh_token') {
      if (!refreshable.has(form.get('refresh_token') ?? '') || ways.refresh === 'refused')
        return refuse('invalid_grant');
      return give(ways.refresh === 'new');
    }
    if (ways.token) return ways.token();
    const found = codes.get(form.get('code') ?? '');
    if (!found) return refuse('invalid_grant');
    if (found.isUsed && ways.isCodeReusable !== true) {
      if (ways.secondUseRevokes === true) for (const token of found.tokens) live.delete(token);
      return refuse('invalid_grant');
    }
    found.isUsed = true;
    if (performance.now() - found.issuedAtMs > (ways.codeLifeMs ?? 10_000)) return refuse('invalid_grant');
    if (!isVerified(found.challenge, form.get('code_verifier'))) return refuse('invalid_grant');
    return give(true, found.tokens);
  };

  const isVerified = (challenge: string | null, verifier: string | null): boolean => {
    const pkce = ways.pkce ?? 'enforced';
    if (pkce === 'ignored' || (pkce === 'only asked' && challenge === null)) return true;
    return challenge === (verifier === null ? null : createHash('sha256').update(verifier).digest('base64url'));
  };

  const profile = (token: string): Raw => {
    if (!live.has(token)) return refuse('invalid_token', 401);
    const body = {
      id: PERSON.id,
      active: true,
      client_id: CLIENT.id,
      parentIdentityInfo: { name: 'staff', code: 'JG' },
      attributes: { BMBM: 'D01', BMMC: 'Library', XGH: PERSON.id, XM: PERSON.name, objectId: 'o-1' },
      ...ways.profile,
    };
    return { status: 200, body: JSON.stringify(body) };
  };

  const logout = (query: URLSearchParams, response: ServerResponse) => {
    if (ways.logoutRevokes === true) for (const tokens of [live, refreshable]) tokens.clear();
    if (ways.logoutReturns === false) return send(response, { status: 200, body: '<h1>Bye</h1>', type: 'text/html' });
    response.writeHead(302, { location: query.get('service') ?? '/' }).end();
  };

  const server = await listen(
    (request, response) => {
      const url = new URL(request.url ?? '/', 'http://service');
      if (url.pathname === '/oauth2.0/authorize') return authorize(url.searchParams, response);
      if (url.pathname === '/logout') return logout(url.searchParams, response);
      if (url.pathname === '/oauth2.0/profile')
        return send(response, profile((request.headers.authorization ?? '').replace('Bearer ', '')));
      return void formOf(request).then((form) => {
        secrets.add(form.get('code_verifier') ?? CLIENT.secret);
        send(response, exchange(form));
      });
    },
    0,
    '127.0.0.1',
  );
  return { url: server.url, secrets, close: () => server.close() };
}

function send(response: ServerResponse, { status, body, type = 'application/json' }: Raw): void {
  response.writeHead(status, { 'content-type': type }).end(body);
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}
