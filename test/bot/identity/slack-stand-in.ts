import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createSlack } from '../../../src/bot/platforms/slack/index.ts';
import { readForm, startStandIn } from '../../service/sign-in-support.ts';
import { registerSecret } from '../../support/evidence/evidence.ts';
import type { FakePlatform } from '../../support/fake-platform.ts';
import { keySet, signIdToken, type Mischief } from './providers/oidc-stand-in.ts';

const CLIENT = { clientId: '12345.67890', clientSecret: 'secret-of-the-slack-app' };
const BOT_TOKEN = 'xoxb-stand-in-0123456789';
const [USER, TEAM] = ['https://slack.com/user_id', 'https://slack.com/team_id'];
const OWN_TEAM = 'T1';

interface Grant {
  member: string;
  nonce?: string | undefined;
}

export interface SlackStandIn {
  url: string;
  mischief: Mischief & {
    /** Error code that the authorize address returns instead of a code. */
    error?: string;
    /** `team`: the workspace of the member. `bot`: overrides of the `auth.test` response. */
    team?: string;
    bot?: Record<string, unknown>;
    /** Redirects people to another host before they sign in, as a workspace with its own address or a federation does. */
    movesOn?: boolean;
  };
  seen: { authorize: URLSearchParams[]; codes: string[]; calls: string[] };
  mintCode(member: string, nonce?: string): string;
  close(): Promise<void>;
}

/**
 * Slack's web sign-in: signs in the member of the browser's `x-member` header and behaves correctly except for the
 * configured faults.
 */
export async function startSlackStandIn(): Promise<SlackStandIn> {
  const codes = new Map<string, Grant>();
  const accessTokens = new Map<string, Record<string, unknown>>();
  const server = await startStandIn(async (request, response) => {
    const url = new URL(request.url ?? '/', server.url);
    stand.seen.calls.push(url.pathname);
    const bent = stand.mischief.answers?.[url.pathname];
    if (bent) return response.writeHead(bent.status ?? 200, { 'content-type': 'application/json' }).end(bent.body);
    if (url.pathname === '/openid/connect/authorize') {
      if (stand.mischief.movesOn && request.headers.host === url.host)
        return response.writeHead(302, { location: url.href.replace('//127.0.0.1', '//localhost') }).end();
      stand.seen.authorize.push(url.searchParams);
      return response.writeHead(302, { location: backFrom(request, url.searchParams) }).end();
    }
    const answer = (await answers[url.pathname]?.(request)) ?? { ok: false, error: 'unknown_method' };
    return response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(answer));
  });
  const backFrom = (request: IncomingMessage, query: URLSearchParams) => {
    const { error } = stand.mischief;
    const member = String(request.headers['x-member'] ?? 'nobody');
    const outcome: Record<string, string> =
      error === undefined ? { code: stand.mintCode(member, query.get('nonce') ?? undefined) } : { error };
    const back = new URLSearchParams({ ...outcome, state: query.get('state') ?? '' });
    return `${query.get('redirect_uri') ?? ''}?${back.toString()}`;
  };
  const answers: Record<string, (request: IncomingMessage) => object | Promise<object>> = {
    '/openid/connect/keys': keySet,
    '/api/auth.test': () => ({ ok: true, team_id: OWN_TEAM, user_id: 'UBOT', bot_id: 'BBOT', ...stand.mischief.bot }),
    '/api/openid.connect.userInfo': (request) => {
      const found = accessTokens.get((request.headers.authorization ?? '').replace('Bearer ', ''));
      return found ? { ok: true, ...found, ...stand.mischief.userInfo } : { ok: false, error: 'invalid_auth' };
    },
    '/api/openid.connect.token': async (request) => {
      const form = await readForm(request);
      const code = form.get('code') ?? '';
      stand.seen.codes.push(code);
      if (form.get('client_id') !== CLIENT.clientId) return { ok: false, error: 'invalid_client_id' };
      if (form.get('client_secret') !== CLIENT.clientSecret) return { ok: false, error: 'bad_client_secret' };
      const grant = codes.get(code);
      codes.delete(code);
      return grant ? tokensFor(grant) : { ok: false, error: 'invalid_code' };
    },
  };
  const tokensFor = ({ member, nonce }: Grant) => {
    const { mischief } = stand;
    const nowSec = Math.floor(Date.now() / 1_000);
    const team = member === 'stranger' ? 'T9' : (mischief.team ?? OWN_TEAM);
    const person = { sub: member, [USER]: member, [TEAM]: team };
    const times = { iat: nowSec, exp: nowSec + 300 };
    const claims = { iss: server.url, aud: CLIENT.clientId, nonce, ...person, ...times, ...mischief.claims };
    const access = `xoxp-${randomBytes(12).toString('hex')}`;
    accessTokens.set(access, person);
    const tokens = { access_token: access, token_type: 'Bearer', id_token: signIdToken(claims, mischief) };
    return { ok: true, ...tokens, ...mischief.token };
  };
  const stand: SlackStandIn = {
    ...server,
    mischief: {},
    seen: { authorize: [], codes: [], calls: [] },
    mintCode(member, nonce) {
      const code = `SC-${randomBytes(12).toString('hex')}`;
      registerSecret('code', code);
      codes.set(code, { member, nonce });
      return code;
    },
  };
  return stand;
}

/** The real Slack platform, connected to the stand-in. `openUrl` overrides the address of its pages. */
export function slackChat(slack: SlackStandIn, openUrl = slack.url): FakePlatform {
  const platform = createSlack({
    signingSecret: 'signing-secret',
    botToken: BOT_TOKEN,
    apiUrl: `${slack.url}/api/`,
    openUrl,
    webSignIn: { client: CLIENT, redirectUri: '' },
    reply: 'stream',
    webhookWindowSec: 300,
    nowMs: Date.now,
  });
  return { ...platform, written: [], codeFor: (member) => slack.mintCode(member) };
}
