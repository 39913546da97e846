import { afterEach, expect, test } from '@jest/globals';
import type { ListeningServer } from '../../../src/shared/http/http-server.ts';
import { checkPlatform } from '../../../src/cli/check/check-platform.ts';
import { loadSound, SERVING } from '../../bot/config/environments.ts';
import { answering, type Answers } from './support.ts';

const servers: ListeningServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const KEYS = '/openid/connect/keys';
const TOKEN = '/api/openid.connect.token';
const SOUND: Answers = {
  '/api/auth.test': [200, { ok: true, user: 'parley', team: 'Campus' }],
  [TOKEN]: [200, { ok: false, error: 'invalid_code' }],
  [KEYS]: [200, { keys: [] }],
};

async function check(answers: Answers, more: Record<string, string> = {}) {
  const server = await answering({ ...SOUND, ...answers });
  servers.push(server);
  const { config, secrets } = loadSound({
    ...SERVING,
    ...{ REDIS_URL: 'redis://127.0.0.1:9', SIGN_IN_PROOF: 'wecom:same-browser,slack:same-id' },
    ...{ SLACK_SIGNING_SECRET: 'signing-secret', SLACK_BOT_TOKEN: 'xoxb-1-token' },
    ...{ SLACK_API_URL: `${server.url}/api/`, SLACK_OPEN_URL: server.url },
    ...more,
  });
  const lines = await checkPlatform('slack', { config, secrets });
  return { line: lines.find(({ name }) => name === 'Slack sign-in'), seen: server.seen };
}

const CLIENT = { SLACK_CLIENT_ID: '123.456', SLACK_CLIENT_SECRET: 'client-secret-of-slack' };

test("the check tests the client of Slack's web sign-in and names the redirect address to register", async () => {
  const { line, seen } = await check({}, CLIENT);
  expect(line).toMatchObject({ verdict: 'ok' });
  expect(line?.detail).toContain('https://parley.example.org/oauth/platform/slack/callback');
  expect(line?.detail).toContain('openid');
  const tried = new URLSearchParams(seen.find(({ url }) => url === TOKEN)?.body);
  expect(Object.fromEntries(tried)).toMatchObject({ client_id: '123.456', client_secret: 'client-secret-of-slack' });
});

test("the check says nothing about Slack's web sign-in without a client, since another proof was chosen", async () => {
  expect((await check({})).line).toBeUndefined();
});

test.each<[string, Answers, RegExp]>([
  ['a wrong client id', { [TOKEN]: [200, { ok: false, error: 'invalid_client_id' }] }, /SLACK_CLIENT_ID and SLACK_/],
  ['a wrong secret', { [TOKEN]: [200, { ok: false, error: 'bad_client_secret' }] }, /SLACK_CLIENT_SECRET/],
  ['another server', { [TOKEN]: [200, '<html>'] }, /SLACK_API_URL/],
  ['unreadable keys', { [KEYS]: 404 }, /SLACK_OPEN_URL/],
])('%s is reported as a fault with the next step', async (_what, answers, nextStep) => {
  const { line } = await check(answers, CLIENT);
  expect(line).toMatchObject({ verdict: 'fault', nextStep: expect.stringMatching(nextStep) });
  expect(JSON.stringify(line)).not.toContain('client-secret-of-slack');
});
