import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Platform } from '../../../../src/bot/platforms/platform.ts';
import { startFakeSlack, type FakeSlack } from '../../../support/fake-slack.ts';
import { BOT_TOKEN, deliver, directMessage, pressOf, slack } from './support.ts';
import { receiveAt } from '../../../support/receive-at.ts';

let deployment: FakeSlack;
let platform: Platform;
beforeEach(async () => {
  deployment = await startFakeSlack(BOT_TOKEN);
  platform = slack({ apiUrl: deployment.apiUrl });
});
afterEach(() => deployment.close());

const FORM = { contentType: 'application/x-www-form-urlencoded' };

/** The kind of delivery that the webhook reads. */
async function bring(body: object | string, signing = {}): Promise<string> {
  await platform.ready?.();
  return receiveAt(platform, deliver(body, signing)).kind;
}
const from = (origin: object) => ({ ...directMessage('hello'), ...origin });
const command = (more: Record<string, string>) =>
  new URLSearchParams({
    command: '/parley',
    text: 'help',
    channel_id: 'D1',
    user_id: 'U1',
    trigger_id: `t${Math.random()}`,
    ...more,
  }).toString();
const click = (more: object) =>
  new URLSearchParams({
    payload: JSON.stringify({
      ...pressOf('good'),
      ...more,
    }),
  }).toString();

test('ignores events, commands and clicks of another workspace from the first delivery on', async () => {
  expect(await bring(from({ team_id: 'TOTHER' }))).toBe('ignored');
  expect(await bring(from({ team_id: 'T1' }))).toBe('message');
  expect(await bring(command({ team_id: 'TOTHER' }), FORM)).toBe('ignored');
  expect(await bring(command({ team_id: 'T1' }), FORM)).toBe('message');
  expect(await bring(click({ team: { id: 'TOTHER' } }), FORM)).toBe('ignored');
  expect(await bring(click({ team: { id: 'T1' } }), FORM)).toBe('feedback');
  // Slack was asked only once.
  expect(deployment.calls.filter(({ method }) => method === 'auth.test')).toHaveLength(1);
});

test('ignores another app’s events, with the own app id from Slack or else from the first event of the own workspace', async () => {
  deployment.appId = 'A1';
  expect(await bring(from({ api_app_id: 'AOTHER' }))).toBe('ignored');
  expect(await bring(from({ api_app_id: 'A1' }))).toBe('message');
  deployment.appId = undefined;
  platform = slack({ apiUrl: deployment.apiUrl });
  expect(await bring(from({ team_id: 'TOTHER', api_app_id: 'AOTHER' }))).toBe('ignored');
  expect(await bring(from({ api_app_id: 'A1' }))).toBe('message');
  expect(await bring(from({ api_app_id: 'AOTHER' }))).toBe('ignored');
  expect(await bring(command({ team_id: 'T1', api_app_id: 'AOTHER' }), FORM)).toBe('ignored');
});

test('accepts events of a shared channel only when context_team_id is the own workspace', async () => {
  const shared = { team_id: 'TOTHER', is_ext_shared_channel: true };
  expect(await bring(from({ ...shared, context_team_id: 'T1' }))).toBe('message');
  expect(await bring(from({ ...shared, context_team_id: 'TTHIRD' }))).toBe('ignored');
});

test('accepts messages without a wait while Slack does not identify the app', async () => {
  await deployment.close();
  expect(await bring(from({}))).toBe('message');
  expect(platform.ready?.()).toBeUndefined();
  deployment = await startFakeSlack(BOT_TOKEN);
});
