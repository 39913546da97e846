import { expect, test } from '@jest/globals';
import type { Delivery } from '../../../../src/bot/platforms/platform.ts';
import { readEnvelopeOf, type ReadOptions } from '../../../../src/bot/platforms/slack/read-delivery.ts';
import { receiveAt } from '../../../support/receive-at.ts';
import { deliver, directMessage, pressOf, slack } from './support.ts';

const READING: ReadOptions = {
  ...{ tenant: 'slack', app: 'bot', answersInThreads: true, bare: { models: [] } },
  followsThreads: false,
  isFileAddress: () => true,
  isOwnAddress: () => true,
  isForeignOrigin: () => false,
};
const FORM = 'application/x-www-form-urlencoded';
const COMMAND = {
  ...{ team_id: 'T1', api_app_id: 'A1', channel_id: 'D1', user_id: 'U1', command: '/parley', text: 'help' },
  ...{ trigger_id: '1.2.3', response_url: 'http://127.0.0.1:9/commands/1' },
};

test('reads a socket envelope as the same delivery by webhook', () => {
  const webhook = slack();
  const event = directMessage('hello');
  const form = (fields: Record<string, string>) =>
    receiveAt(webhook, deliver(new URLSearchParams(fields).toString(), { contentType: FORM }));
  const pairs: [Delivery, Delivery][] = [
    [readEnvelopeOf('events_api', event, () => READING), receiveAt(webhook, deliver(event))],
    [readEnvelopeOf('interactive', pressOf('good'), () => READING), form({ payload: JSON.stringify(pressOf('good')) })],
    [readEnvelopeOf('slash_commands', { ...COMMAND, response_url: undefined }, () => READING), form(without(COMMAND))],
  ];
  const read = (delivery: Delivery) => JSON.stringify(delivery);
  expect(pairs.map(([socket]) => socket.kind)).toEqual(['message', 'feedback', 'message']);
  for (const [socket, called] of pairs) expect(read(socket)).toBe(read(called));
});

function without({ response_url: _, ...rest }: typeof COMMAND): Record<string, string> {
  return rest;
}

test.each([
  ['events_api', { type: 'app_rate_limited', minute_rate_limited: 1 }],
  ['events_api', undefined],
  ['interactive', null],
  ['slash_commands', 'text'],
  ['something_new', { event: {} }],
])('ignores and acknowledges an irrelevant envelope of type %s', (type, payload) => {
  expect(readEnvelopeOf(type, payload, () => READING)).toMatchObject({ kind: 'ignored', answer: { status: 200 } });
});

test('refuses every webhook delivery in socket mode, whatever its signature', () => {
  const platform = slack({ signingSecret: '', appToken: 'xapp-1' });
  expect(receiveAt(platform, deliver(directMessage('hello')))).toMatchObject({ kind: 'refused', status: 401 });
  const signed = slack({ appToken: 'xapp-1' });
  expect(receiveAt(signed, deliver(directMessage('hello')))).toMatchObject({ kind: 'refused', status: 401 });
});
