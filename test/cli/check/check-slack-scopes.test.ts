import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { checkPlatform } from '../../../src/cli/check/check-platform.ts';
import { DEFAULT_SCOPES } from '../../../src/simulator/slack/scopes.ts';
import type { Messenger } from '../../../src/simulator/start-messenger.ts';
import { METHODS } from '../../../src/bot/platforms/slack/app-rights.ts';
import { callApi, startSlackAtTest } from '../../simulator/slack-at-test.ts';
import { BOT_TOKEN, startStandInSlackBot, type StandInSlackBot } from '../../simulator/stand-in-slack-bot.ts';
import { loadSound, SERVING } from '../../bot/config/environments.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { answering } from './support.ts';

const redis = useTestRedis();
let bot: StandInSlackBot;
let messenger: Messenger | undefined;

beforeEach(async () => {
  await redis.redis.flushall();
  bot = await startStandInSlackBot();
});
afterEach(async () => {
  await messenger?.close();
  messenger = undefined;
  await bot.close();
});

async function checkAt(url: string) {
  const { config, secrets } = loadSound({
    ...SERVING,
    ...{ REDIS_URL: 'redis://127.0.0.1:9', SIGN_IN_PROOF: 'wecom:same-browser,slack:same-id' },
    ...{ SLACK_SIGNING_SECRET: 'signing-secret', SLACK_BOT_TOKEN: BOT_TOKEN, SLACK_API_URL: `${url}/api/` },
  });
  const lines = await checkPlatform('slack', { config, secrets });
  expect(lines.find(({ name }) => name === 'Slack bot')?.verdict).toBe('ok');
  return lines.find(({ name }) => name === 'Slack scopes');
}

/** Findings of the check for an app with these scopes. */
async function checkWith(scopes: readonly string[]) {
  messenger = await startSlackAtTest({ redis: redis.redis, botUrl: bot.url, nowMs: Date.now, scopes });
  return checkAt(messenger.url);
}

const without = (...scopes: string[]) => DEFAULT_SCOPES.filter((scope) => !scopes.includes(scope));

test('an app with the scopes of the manifest passes, also when it is declared as an agent', async () => {
  expect(await checkWith(DEFAULT_SCOPES)).toMatchObject({ verdict: 'ok' });
  await messenger?.close();
  expect(await checkWith([...DEFAULT_SCOPES, 'assistant:write'])).toMatchObject({ verdict: 'ok' });
});

test('a missing scope that answers need is a fault with its name and the next step', async () => {
  expect(await checkWith(without('channels:history'))).toMatchObject({
    verdict: 'fault',
    detail: 'missing: channels:history',
    nextStep: expect.stringMatching(/slack:manifest.*reinstall/),
  });
});

test('a missing optional scope is reported with the lost function', async () => {
  expect(await checkWith(without('mpim:history', 'users:read'))).toMatchObject({
    verdict: 'warning',
    detail: 'missing: mpim:history (group chats), users:read (names on the sign-in page and of mentioned people)',
  });
});

test('a granted scope that is never used is reported next to the missing ones', async () => {
  expect(await checkWith([...without('chat:write'), 'users:read.email', 'channels:join'])).toMatchObject({
    verdict: 'fault',
    detail: 'missing: chat:write; granted but never used: users:read.email, channels:join',
  });
  await messenger?.close();
  expect(await checkWith([...DEFAULT_SCOPES, 'channels:join'])).toMatchObject({ verdict: 'warning' });
});

test('an app without scopes is missing all, and without scope information from Slack there is no finding', async () => {
  expect(await checkWith([])).toMatchObject({ verdict: 'fault', detail: expect.stringContaining('chat:write') });
  const silent = await answering({ '/api/auth.test': [200, { ok: true, user: 'parley', team: 'Campus' }] });
  expect(await checkAt(silent.url)).toBeUndefined();
  await silent.close();
});

test("the simulator refuses a call without its scope by a separate table that matches the check's", async () => {
  messenger = await startSlackAtTest({ redis: redis.redis, botUrl: bot.url, nowMs: Date.now, scopes: [] });
  for (const [method, scopes] of Object.entries(METHODS.bot)) {
    // Only the names of mentioned channels are requested, not those of private chats.
    const channel = method === 'conversations.info' ? 'C1' : 'D1';
    const { body, headers } = await callApi(messenger, method, { channel });
    expect(headers['x-oauth-scopes']).toBe('');
    if (scopes.length === 0) expect(body).toMatchObject({ ok: true });
    else expect(body).toMatchObject({ ok: false, error: 'missing_scope', needed: expect.stringMatching(/^[a-z:]+$/) });
    if (scopes.length > 0) expect([...scopes]).toContain(body['needed']);
  }
});
