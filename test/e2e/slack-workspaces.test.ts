import { expect, test } from '@jest/globals';
import { checkPlatform } from '../../src/cli/check/check-platform.ts';
import { loadSettings } from '../../src/bot/config/load-settings.ts';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { untilTrue } from '../support/deployment.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import {
  beginInstall,
  comeBack,
  consentOf,
  installIn,
  MORE_WORKSPACES,
  SECOND_TEAM,
  tokenOf,
} from '../support/slack-workspaces.ts';

const deployment = useSlackDeployment();
const OF_SECOND = { team_id: SECOND_TEAM };

const question = (ts: string, text: string) => ({
  ...{ type: 'message', channel_type: 'im', channel: 'DU1', user: 'U1' },
  ...{ text, ts: `17600000${ts}.000100` },
});
/** Asks, by default in the first workspace. */
const ask = (ts: string, text: string, from: object = {}) => deployment.sender.event(question(ts, text), from);
const answers = () => deployment.slack.messages.map(({ team, text, isStreaming }) => ({ team, text, isStreaming }));
const untilAnswered = (count: number) =>
  untilTrue(() => answers().filter(({ isStreaming }) => !isStreaming).length === count);
const asked = () => deployment.chat.calls.map(({ body }) => JSON.stringify(body['messages']));

test('people with the same ids in two workspaces are each answered there, with separate prompts [workspaces-apart]', async () => {
  deployment.chat.script(helloStream('Yes'));
  await deployment.startBot(MORE_WORKSPACES);
  await installIn(deployment, SECOND_TEAM);
  expect(await ask('01', 'the first secret')).toBe(200);
  await untilAnswered(1);
  // Person, chat and time are identical.
  expect(await ask('01', 'the second secret', OF_SECOND)).toBe(200);
  await untilAnswered(2);
  expect(await ask('02', 'and now?', OF_SECOND)).toBe(200);
  await untilAnswered(3);
  expect(answers().map(({ team }) => team)).toEqual(['T1', SECOND_TEAM, SECOND_TEAM]);
  const [first = '', second = '', third = ''] = asked();
  expect(first).toContain('the first secret');
  expect(second).not.toContain('the first secret');
  expect(third).not.toContain('the first secret');
});

test('an edit of an answered question in the second workspace causes a notice there [workspaces-apart]', async () => {
  deployment.chat.script(helloStream('Yes'));
  await deployment.startBot(MORE_WORKSPACES);
  await installIn(deployment, SECOND_TEAM);
  expect(await ask('01', 'about bananas', OF_SECOND)).toBe(200);
  await untilAnswered(1);
  const { ts, text, ...where } = question('01', 'about bananas');
  const before = { type: 'message', user: 'U1', text, ts };
  const change = {
    ...{ ...where, user: undefined, subtype: 'message_changed', hidden: true, ts: '1760000030.000001' },
    message: { ...before, text: 'about cherries', edited: { user: 'U1', ts: '1760000029.000001' } },
    previous_message: before,
  };
  const told = () => deployment.slack.calls.filter(({ method }) => method === 'chat.postEphemeral');
  // The first workspace has no such question.
  expect(await deployment.sender.event(change)).toBe(200);
  expect(await deployment.sender.event(change, OF_SECOND)).toBe(200);
  await untilTrue(() => told().length > 0);
  expect(told().map(({ team }) => team)).toEqual([SECOND_TEAM]);
});

test('a stop ends the answer in its own workspace only [workspaces-apart]', async () => {
  const held: (() => void)[] = [];
  deployment.chat.script((response, call) => {
    held.push(() => void helloStream('The whole story')(response, call));
  });
  await deployment.startBot(MORE_WORKSPACES);
  await installIn(deployment, SECOND_TEAM);
  const stopped = (threadOf: string, eventTs: string, from: object = {}) =>
    deployment.sender.event(
      {
        ...{ type: 'agent_session_stopped', channel: 'DU1', user: 'U1', thread_ts: `17600000${threadOf}.000100` },
        ...{ streaming_message_ts: [], event_ts: eventTs },
      },
      from,
    );
  await ask('01', 'a long story', OF_SECOND);
  await untilTrue(() => held.length === 1);
  expect(await stopped('01', '1760000090.000100')).toBe(200);
  held[0]?.();
  await untilAnswered(1);
  expect(answers()).toMatchObject([{ team: SECOND_TEAM, text: 'The whole story' }]);

  await ask('02', 'another one', OF_SECOND);
  await untilTrue(() => held.length === 2);
  expect(await stopped('02', '1760000091.000100', OF_SECOND)).toBe(200);
  await untilAnswered(2);
  expect(answers()[1]?.text).not.toContain('The whole story');
});

test.each<[string, object]>([
  ['an allowed workspace that has not installed the app', OF_SECOND],
  ['a workspace that is not allowed', { team_id: 'T9OTHER' }],
])('events of %s are ignored [workspaces-apart]', async (_what, from) => {
  deployment.chat.script(helloStream('Yes'));
  await deployment.startBot(MORE_WORKSPACES);
  // The first workspace is known at this point.
  await ask('01', 'hello');
  await untilTrue(() => deployment.chat.calls.length === 1);
  expect(await ask('02', 'hello', from)).toBe(200);
  await ask('03', 'hello again');
  await untilTrue(() => deployment.chat.calls.length === 2);
  expect(asked().some((prompt) => prompt.includes('hello again'))).toBe(true);
  expect(deployment.chat.calls).toHaveLength(2);
});

test('events of another app, or without an app, are ignored in an installed workspace [workspaces-apart]', async () => {
  deployment.chat.script(helloStream('Yes'));
  await deployment.startBot(MORE_WORKSPACES);
  await installIn(deployment, SECOND_TEAM);
  expect(await ask('01', 'of another app', { ...OF_SECOND, api_app_id: 'A2' })).toBe(200);
  expect(await ask('02', 'of no app', { ...OF_SECOND, api_app_id: undefined })).toBe(200);
  expect(await ask('03', 'of ours', OF_SECOND)).toBe(200);
  await untilAnswered(1);
  expect(asked()).toEqual([expect.stringContaining('of ours')]);
});

test("an administrator is asked for the scopes that the code uses, with the bot's address as redirect", async () => {
  await deployment.startBot(MORE_WORKSPACES);
  const { cookie, asked: address } = await beginInstall(deployment);
  expect(cookie).toMatch(/^__Host-install=[\w-]{43}$/);
  expect(address.origin + address.pathname).toBe('https://slack.com/oauth/v2/authorize');
  const query = Object.fromEntries(address.searchParams);
  expect(query).toMatchObject({
    client_id: MORE_WORKSPACES.SLACK_CLIENT_ID,
    redirect_uri: `${deployment.botUrl}/oauth/platform/slack/installed`,
  });
  expect(query['scope']?.split(',')).toContain('chat:write');
  expect(cookie).not.toContain(query['state']);
});

test('only the browser that began an installation can complete it [workspaces-apart]', async () => {
  await deployment.startBot(MORE_WORKSPACES);
  const begun = await beginInstall(deployment);
  const state = begun.asked.searchParams.get('state') ?? '';
  const other = await beginInstall(deployment);
  deployment.slack.consents.set('consent', consentOf(SECOND_TEAM));
  const back = (query: Record<string, string>, cookie?: string) => comeBack(deployment, query, cookie);
  expect((await back({ code: 'consent', state })).status).toBe(400);
  expect((await back({ code: 'consent', state }, other.cookie)).status).toBe(400);
  expect((await back({ code: 'consent' }, begun.cookie)).status).toBe(400);
  expect(deployment.slack.calls.filter(({ method }) => method === 'oauth.v2.access')).toEqual([]);
  expect((await back({ code: 'consent', state }, begun.cookie)).status).toBe(200);
});

test('an installation redirect works once, and a declined one ends it too [workspaces-apart]', async () => {
  await deployment.startBot(MORE_WORKSPACES);
  for (const [query, said] of [
    [{ error: 'access_denied' }, /not installed/],
    [{ code: 'unknown' }, /did not confirm/],
    [{ code: 'consent' }, /is installed/],
  ] as const) {
    const { cookie, asked: address } = await beginInstall(deployment);
    const state = address.searchParams.get('state') ?? '';
    deployment.slack.consents.set('consent', consentOf(SECOND_TEAM));
    expect((await comeBack(deployment, { ...query, state }, cookie)).text).toMatch(said);
    // A browser would not send its cookie again.
    deployment.slack.consents.set('another', consentOf(SECOND_TEAM));
    expect((await comeBack(deployment, { code: 'another', state }, cookie)).status).toBe(400);
  }
});

test.each<[string, object, number]>([
  ['a workspace that the settings do not name', { team: { id: 'T9OTHER' } }, 403],
  ['a whole organisation', { is_enterprise_install: true }, 403],
  ['no workspace', { team: null }, 502],
  ['a token of a person', { token_type: 'user' }, 502],
  ['a token of another kind', { access_token: 'xoxp-1' }, 502],
])('a Slack installation for %s is not stored [workspaces-apart]', async (_what, more, expected) => {
  await deployment.startBot(MORE_WORKSPACES);
  const { cookie, asked: address } = await beginInstall(deployment);
  deployment.slack.consents.set('consent', consentOf(SECOND_TEAM, more));
  const query = { code: 'consent', state: address.searchParams.get('state') ?? '' };
  expect((await comeBack(deployment, query, cookie)).status).toBe(expected);
  expect(await deployment.redis.hlen('slack-installations')).toBe(0);
});

test('the stored token is encrypted and bound to its workspace [workspaces-apart]', async () => {
  await deployment.startBot(MORE_WORKSPACES);
  await installIn(deployment, SECOND_TEAM);
  const sealed = (await deployment.redis.hget('slack-installations', SECOND_TEAM)) ?? '';
  expect(sealed).toMatch(/^s1\./);
  expect(Buffer.from(sealed.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toContain('xoxb');
});

test('a workspace is dropped once Slack reports the app as removed and refuses its token [workspaces-apart]', async () => {
  deployment.chat.script(helloStream('Yes'));
  await deployment.startBot(MORE_WORKSPACES);
  await installIn(deployment, SECOND_TEAM);
  const isKept = async () => (await deployment.redis.hlen('slack-installations')) === 1;
  const gone = () => deployment.sender.event({ type: 'app_uninstalled' }, OF_SECOND);
  // A late event about an earlier installation: the token still works.
  expect(await gone()).toBe(200);
  await untilTrue(() => deployment.slack.calls.some(({ method }) => method === 'auth.test'));
  await ask('01', 'still here', OF_SECOND);
  await untilAnswered(1);
  expect(await isKept()).toBe(true);
  deployment.slack.workspaces.delete(tokenOf(SECOND_TEAM));
  expect(await gone()).toBe(200);
  await untilTrue(async () => !(await isKept()));
  expect(await ask('02', 'is anybody there?', OF_SECOND)).toBe(200);
  await ask('03', 'the seventh of them');
  await untilAnswered(2);
  expect(asked().some((prompt) => prompt.includes('is anybody there?'))).toBe(false);
});

test('without SLACK_MORE_WORKSPACES the install page does not exist', async () => {
  await deployment.startBot();
  expect((await fetch(`${deployment.botUrl}/install/slack`, { redirect: 'manual' })).status).toBe(404);
});

test('the check names the workspaces that have not installed the app, and the page to install it', async () => {
  await deployment.startBot(MORE_WORKSPACES);
  const settings = loadSettings({ env: { ...deployment.env, ...MORE_WORKSPACES }, cwd: process.cwd() });
  if (!settings.ok) throw new Error('settings');
  const line = async () => (await checkPlatform('slack', settings)).find(({ name }) => name === `Slack ${SECOND_TEAM}`);
  expect(await line()).toMatchObject({ verdict: 'warning', nextStep: expect.stringContaining('/install/slack') });
  await installIn(deployment, SECOND_TEAM);
  expect(await line()).toMatchObject({ verdict: 'ok', detail: expect.stringContaining('parley') });
});

test('the check warns if the first workspace is among the further ones', async () => {
  const twice = { ...MORE_WORKSPACES, SLACK_MORE_WORKSPACES: `${SECOND_TEAM},T1` };
  const settings = loadSettings({ env: { ...deployment.env, ...twice }, cwd: process.cwd() });
  if (!settings.ok) throw new Error('settings');
  const lines = (await checkPlatform('slack', settings)).filter(({ name }) => name === 'Slack bot');
  expect(lines.map(({ verdict }) => verdict)).toEqual(['ok', 'warning']);
  expect(lines[1]?.detail).toContain('T1');
});

test('SLACK_MORE_WORKSPACES requires the client id and secret of the app', () => {
  const env = { ...deployment.env, SLACK_MORE_WORKSPACES: SECOND_TEAM };
  const settings = loadSettings({ env, cwd: process.cwd() });
  expect(settings.ok ? [] : settings.faults.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^SLACK_MORE_WORKSPACES requires SLACK_CLIENT_ID and SLACK_CLIENT_SECRET/),
  ]);
});
