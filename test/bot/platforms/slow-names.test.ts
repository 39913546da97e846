import { afterEach, expect, test } from '@jest/globals';
import { subscribe } from 'node:diagnostics_channel';
import dns from 'node:dns';
import { setTimeout as pause } from 'node:timers/promises';
import { createSlackApi } from '../../../src/bot/platforms/slack/platform-api.ts';
import { startFakeSlack } from '../../support/fake-slack.ts';
import { untilTrue } from '../../support/until-true.ts';

const TOKEN = 'xoxb-slow-names-0123456789';
/** Longer than the time limit of a call, as when the first of two name servers is down. */
const LOOK_UP_MS = 5_600;
const { lookup } = dns;

afterEach(() => {
  dns.lookup = lookup;
});

// Takes 7 s: the limit of a call is 5 s.
test('sends nothing of a call whose DNS lookup outlasts its time limit, and sends the next call', async () => {
  const slack = await startFakeSlack(TOKEN);
  let connections = 0;
  subscribe('net.server.socket', () => (connections += 1));
  dns.lookup = ((...args: unknown[]) => {
    setTimeout(() => void Reflect.apply(lookup, dns, args), LOOK_UP_MS);
  }) as typeof lookup;
  const api = createSlackApi(slack.apiUrl.replace('127.0.0.1', 'localhost'), TOKEN);
  const post = { channel: 'D1', markdown_text: 'An answer' };
  // Certainly not sent, so the caller need not check what Slack shows.
  expect(await api.call('chat.postMessage', post)).toMatchObject({ kind: 'busy' });
  // The lookup ends, and the connection opens too late.
  await untilTrue(() => connections > 0);
  await pause(500);
  expect(slack.calls).toEqual([]);
  expect(await api.call('chat.postMessage', post)).toMatchObject({ kind: 'ok' });
  expect(slack.messages.map(({ text }) => text)).toEqual(['An answer']);
  await slack.close();
}, 60_000);
