import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { Delivery } from '../../../../src/bot/platforms/platform.ts';
import {
  botScopes,
  EVENTS,
  METHODS,
  signInScopes,
  subscribedEvents,
} from '../../../../src/bot/platforms/slack/app-rights.ts';
import type { SlackApi } from '../../../../src/bot/platforms/slack/platform-api.ts';
import { receiveAt } from '../../../support/receive-at.ts';
import { sourceFiles, stringsOf } from '../../i18n/find-texts.ts';
import { deliver, directMessage, envelope, mention, slack } from './support.ts';

const FOLDER = 'src/bot/platforms/slack';
const TABLE = `${FOLDER}/app-rights.ts`;
const files = sourceFiles(FOLDER).filter((file) => file !== TABLE);
const listed: readonly string[] = Object.values(METHODS).flatMap((methods) => Object.keys(methods));

/** The method families of Slack's Web API. A string literal that names a method of one of them counts as a call. */
const CALL =
  /^\/?((?:admin|agents|api|apps|assistant|auth|bookmarks|bots|calls|canvases|chat|conversations|dialog|dnd|emoji|files|functions|migration|oauth|openid|pins|reactions|reminders|search|slackLists|stars|team|tooling|usergroups|users|views|workflows)(?:\.[A-Za-z][\w]*)+)$/;

const called = files.flatMap((file) => stringsOf(file).flatMap((text) => CALL.exec(text)?.[1] ?? []));

test('METHODS lists exactly the Slack methods that the source calls', () => {
  expect(called.filter((method) => !listed.includes(method))).toEqual([]);
  expect(listed.filter((method) => !called.includes(method))).toEqual([]);
  expect(listed.length).toBeGreaterThan(10);
});

test('a call of a method outside METHODS does not compile', () => {
  const call = (method: Parameters<SlackApi['call']>[0]) => method;
  expect(call('chat.update')).toBe('chat.update');
  // @ts-expect-error: no right for it is asked for
  expect(call('chat.meMessage')).toBe('chat.meMessage');
  // @ts-expect-error: the bot's token is not for it
  expect(call('apps.connections.open')).toBe('apps.connections.open');
});

test('only the listed Slack files send requests, and none of them builds a method address', () => {
  const text = (file: string) => readFileSync(file, 'utf8');
  expect(files.filter((file) => /apiUrl\}\/|apiUrl \+|slack\.com\/api\/\w/.test(text(file)))).toEqual([]);
  const senders = files.filter((file) =>
    /\b(?:requestBounded|boundedFetch|openWebSocket|new WebSocket|fetch|got)\b\(/.test(text(file)),
  );
  expect(senders.map((file) => file.slice(FOLDER.length + 1)).sort()).toEqual([
    // Sends to the response_url of a command, without a token.
    'answer-command.ts',
    // Sends a file's bytes to the upload address that Slack returned, without a token.
    'answer-file.ts',
    // Sends to the response_url of a button press, without a token.
    'ask-why.ts',
    'check-settings.ts',
    'install.ts',
    // Needs files:read.
    'media.ts',
    'open-id.ts',
    'platform-api.ts',
    'socket/slack-socket.ts',
  ]);
});

test('the scopes are those that Slack’s reference names for each method', () => {
  const history = ['channels:history', 'groups:history', 'im:history', 'mpim:history'];
  expect(botScopes(false)).toEqual([
    'app_mentions:read',
    ...['channels:history', 'channels:read', 'chat:write', 'commands', 'files:read', 'files:write'],
    ...['groups:history', 'groups:read', 'im:history', 'im:write'],
    ...['mpim:history', 'users:read'],
  ]);
  expect(botScopes(true)).toEqual([...botScopes(false), 'assistant:write'].sort());
  expect(signInScopes()).toEqual(['openid']);
  expect(METHODS.bot['conversations.replies']).toEqual(history);
  const posting = Object.entries(METHODS.bot).filter(([method]) => /^(?:chat|assistant)\./.test(method));
  for (const [, scopes] of posting) expect(scopes).toContain('chat:write');
});

const inChannel = (channelType: string, event: object) =>
  envelope({
    type: 'message',
    channel_type: channelType,
    channel: 'C1',
    user: 'U1',
    ts: '1760000003.000100',
    ...event,
  });
const threadTs = '1760000002.000100';

/** One sample of each subscribed event, with the kind of delivery that it is read as. */
const SAMPLES: Record<keyof typeof EVENTS, [object, Delivery['kind']]> = {
  agent_session_stopped: [
    envelope({
      ...{ type: 'agent_session_stopped', channel: 'D1', user: 'U1' },
      ...{ thread_ts: threadTs, streaming_message_ts: ['1760000004.000100'], event_ts: '1760000005.000100' },
    }),
    'stop',
  ],
  app_home_opened: [envelope({ type: 'app_home_opened', user: 'U1', channel: 'D1', tab: 'messages' }), 'opened-chat'],
  app_mention: [mention('hello'), 'message'],
  assistant_thread_started: [
    envelope({
      type: 'assistant_thread_started',
      assistant_thread: { user_id: 'U1', channel_id: 'D1', thread_ts: threadTs, context: {} },
    }),
    'opened-chat',
  ],
  'message.channels': [inChannel('channel', { text: 'stop', thread_ts: threadTs }), 'stop'],
  'message.groups': [inChannel('group', { text: 'stop', thread_ts: threadTs }), 'stop'],
  'message.im': [directMessage('hello'), 'message'],
  // A mention in a group direct message arrives only as `message.mpim`. After an uninstall Slack shows nothing to anyone,
  // and the workspace's token is removed.
  app_uninstalled: [envelope({ type: 'app_uninstalled' }), 'ignored'],
  tokens_revoked: [envelope({ type: 'tokens_revoked', tokens: { bot: ['UBOT'] } }), 'ignored'],
  'message.mpim': [inChannel('mpim', { text: '<@UBOT> hello' }), 'message'],
};

test.each(Object.entries(SAMPLES))('reads the event %s as the expected delivery', (_name, [body, kind]) => {
  expect(receiveAt(slack(), deliver(body))).toMatchObject({ kind });
});

test('every subscribed event has its scopes, and no other event is read', () => {
  expect(subscribedEvents({ isAgent: true, isShared: true })).toEqual(Object.keys(EVENTS));
  for (const name of ['agent_session_stopped', 'app_home_opened', 'assistant_thread_started'])
    expect(subscribedEvents({ isShared: true })).not.toContain(name);
  expect(subscribedEvents({})).not.toContain('app_uninstalled');
  for (const scopes of Object.values(EVENTS)) expect(botScopes(true)).toEqual(expect.arrayContaining([...scopes]));
  const unknown = envelope({
    type: 'message_of_tomorrow',
    channel: 'D1',
    channel_type: 'im',
    user: 'U1',
    text: 'hello',
  });
  expect(receiveAt(slack(), deliver(unknown))).toMatchObject({ kind: 'ignored', reason: 'unwanted event' });
  // The readers compare `type` only with subscribed event types.
  const types = Object.keys(EVENTS).map((name) => name.replace(/\..*$/, ''));
  const readers = readFileSync(`${FOLDER}/wire-event.ts`, 'utf8') + readFileSync(`${FOLDER}/read-delivery.ts`, 'utf8');
  const compared = [...readers.matchAll(/(?:event\.type|event\['type'\]|\btype) [!=]== '([a-z_]+)'/g)].map(
    ([, type = '']) => type,
  );
  const envelopes = ['url_verification', 'event_callback', 'events_api', 'interactive', 'slash_commands', 'text'];
  expect(compared.filter((type) => !types.includes(type) && !envelopes.includes(type))).toEqual([]);
  expect(compared).toEqual(expect.arrayContaining(['message', 'app_mention', 'agent_session_stopped']));
});
