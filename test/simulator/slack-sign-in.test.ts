import { createPublicKey, createVerify } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { got } from 'got';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { useTestRedis } from '../support/use-test-redis.ts';
import { movableClock } from './messenger-at-test.ts';
import { callRaw, SLACK_CLIENT, startSlackAtTest } from './slack-at-test.ts';
import { startStandInSlackBot, type StandInSlackBot } from './stand-in-slack-bot.ts';

const redis = useTestRedis();
let bot: StandInSlackBot;
let messenger: Messenger;
let clock: ReturnType<typeof movableClock>;
beforeEach(async () => {
  clock = movableClock();
  await redis.redis.flushall();
  bot = await startStandInSlackBot();
  messenger = await startSlackAtTest({ redis: redis.redis, botUrl: bot.url, nowMs: clock.nowMs });
});
afterEach(async () => {
  await messenger.close();
  await bot.close();
});

/** Longer than any text that random tokens contain by chance. */
const STATE = 'state-of-the-bot';
const redirectUri = () => `${bot.url}/oauth/platform/slack/callback`;
const authorizeUrl = (changes: Record<string, string> = {}) => {
  const { clientId } = SLACK_CLIENT;
  const asked = { client_id: clientId, redirect_uri: redirectUri(), response_type: 'code', scope: 'openid' };
  const query = new URLSearchParams({ ...asked, state: STATE, nonce: 'n-1', ...changes });
  return new URL(`${messenger.url}/openid/connect/authorize?${query.toString()}`);
};
type Visit = Pick<Parameters<Messenger['driver']['browse']>[1], 'method' | 'body' | 'contentType'>;
const visit = async (url: URL, visit: Visit, person: string) => {
  const result = await messenger.driver.browse(person, { url, ...visit, destination: 'document' });
  if (result.kind !== 'page') throw new Error(result.kind);
  return { ...result, text: result.body.toString() };
};
const open = (url: URL) => visit(url, { method: 'GET' }, 'ada');
const actionOf = (page: { text: string }) => new URL(/action="([^"]+)"/.exec(page.text)?.[1] ?? '/none', messenger.url);
const decide = (action: URL, decision: 'allow' | 'deny', person = 'ada') => {
  const body = Buffer.from(`decision=${decision}`);
  return visit(action, { method: 'POST', body, contentType: 'application/x-www-form-urlencoded' }, person);
};
const exchange = async (changes: Record<string, string> = {}) => {
  const { clientId: client_id, clientSecret: client_secret } = SLACK_CLIENT;
  const form = { client_id, client_secret, grant_type: 'authorization_code', redirect_uri: redirectUri(), ...changes };
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  return (await callRaw(messenger, 'openid.connect.token', new URLSearchParams(form).toString(), type)).body;
};
const codeOf = async () =>
  (await decide(actionOf(await open(authorizeUrl())), 'allow')).url.searchParams.get('code') ?? '';
const reasons = () => messenger.driver.violations().map(({ reason }) => reason);

describe('the web sign-in of the Slack simulator [slack-web-sign-in]', () => {
  test('asks its person, and returns their browser with a code for one id token', async () => {
    const page = await open(authorizeUrl());
    expect([page.status, page.text]).toEqual([200, expect.stringMatching(/signed in to Slack as Ada[\s\S]*Cancel/)]);
    expect(page.text).not.toContain(STATE);
    const back = (await decide(actionOf(page), 'allow')).url;
    expect([`${back.origin}${back.pathname}`, back.searchParams.get('state')]).toEqual([redirectUri(), STATE]);

    const code = back.searchParams.get('code') ?? '';
    const answer = await exchange({ code });
    const { id_token: idToken, access_token: accessToken } = answer as { id_token?: string; access_token?: string };
    const [header = '', claims = '', signature = ''] = String(idToken).split('.');
    const { keys } = await got(`${messenger.url}/openid/connect/keys`).json<{ keys: [Record<string, string>] }>();
    const verifier = createVerify('RSA-SHA256').update(`${header}.${claims}`);
    const key = createPublicKey({ key: keys[0], format: 'jwk' });
    expect(verifier.verify(key, Buffer.from(signature, 'base64url'))).toBe(true);
    const told = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
    expect(told).toMatchObject({ iss: messenger.url, aud: SLACK_CLIENT.clientId, nonce: 'n-1' });
    const userInfo = await callRaw(messenger, 'openid.connect.userInfo', '', {
      authorization: `Bearer ${String(accessToken)}`,
    });
    const { sub } = told;
    expect(userInfo.body).toMatchObject({ ok: true, sub, 'https://slack.com/user_id': sub });
    expect(await exchange({ code })).toEqual({ ok: false, error: 'invalid_code' });
  });

  test('returns a person who cancels with access_denied and the state', async () => {
    const back = (await decide(actionOf(await open(authorizeUrl())), 'deny')).url.searchParams;
    expect(Object.fromEntries(back)).toEqual({ error: 'access_denied', state: STATE });
  });

  test.each([
    ['another client', { client_id: '1.1' }, 'invalid_client_id'],
    ['an address that is not registered', { redirect_uri: 'https://evil.example/' }, 'bad_redirect_uri'],
    ['an unregistered path of the bot', { redirect_uri: '/oauth/callback' }, 'bad_redirect_uri'],
    ['a scope of another kind', { scope: 'openid chat:write' }, 'invalid_scope'],
    ['no openid', { scope: 'profile' }, 'invalid_scope'],
    ['another workspace', { team: 'T1' }, 'invalid_team'],
    ['another flow', { response_type: 'token' }, 'invalid_arguments'],
  ])('refuses %s on its page without a redirect', async (_what, changes, code) => {
    const page = await open(authorizeUrl(changes));
    expect([page.status, page.text.includes(code), page.url.origin]).toEqual([400, true, messenger.url]);
    expect(reasons()).toContain(`/openid/connect/authorize: ${code}`);
  });

  test('gives no other browser a code, and accepts answers only from the person who was asked', async () => {
    const action = actionOf(await open(authorizeUrl()));
    for (const [url, asked] of [
      [authorizeUrl(), { method: 'GET' }],
      [action, { method: 'POST', form: { decision: 'allow' } }],
    ] as const) {
      const page = await got(url, { ...asked, throwHttpErrors: false, followRedirect: false });
      expect([page.statusCode, page.headers.location]).toEqual([403, undefined]);
    }
    expect((await decide(actionOf(await open(authorizeUrl())), 'allow', 'lin')).status).toBe(403);
    const own = actionOf(await open(authorizeUrl()));
    expect((await decide(own, 'allow')).url.searchParams.has('code')).toBe(true);
    expect((await decide(own, 'allow')).status).toBe(403);
  });

  test.each([
    ['without the secret', { client_secret: 'x' }, 'bad_client_secret'],
    ['as another client', { client_id: '1.1' }, 'invalid_client_id'],
    ['by another grant', { grant_type: 'client_credentials' }, 'invalid_grant_type'],
    ['with another redirect address', { redirect_uri: 'https://evil.example/' }, 'bad_redirect_uri'],
  ])('refuses to exchange a code %s', async (_what, changes, error) => {
    expect(await exchange({ code: await codeOf(), ...changes })).toEqual({ ok: false, error });
    expect(reasons()).toEqual([`openid.connect.token: ${error}`]);
  });

  test('gives codes a lifetime of ten minutes, and refuses unknown codes and access tokens', async () => {
    const code = await codeOf();
    clock.move(10 * 60_000 + 1_000);
    expect((await exchange({ code })).error).toBe('invalid_code');
    expect((await exchange({ code: 'guess' })).error).toBe('invalid_code');
    const headers = { authorization: 'Bearer xoxp-guess' };
    expect((await callRaw(messenger, 'openid.connect.userInfo', '', headers)).body.error).toBe('invalid_auth');
  });
});
