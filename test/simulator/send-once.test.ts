import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { got } from 'got';
import type { MessageView } from '../../src/simulator/api.ts';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { startAtTest, until } from './messenger-at-test.ts';
import { startStandInBot, stream, type StandInBot } from './stand-in-bot.ts';
import { startSlackAtTest } from './slack-at-test.ts';
import { startStandInSlackBot } from './stand-in-slack-bot.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

const redis = useTestRedis();
beforeEach(() => redis.redis.flushall());

const askings = 5;
async function send(messenger: Messenger, person: string, clientId: string, text = 'Hello'): Promise<MessageView> {
  const json = { person, text, images: [], clientId };
  return got.post(`${messenger.url}/api/conversations/private-${person}/messages`, { json }).json<MessageView>();
}

describe('a message that the page sends with a client id', () => {
  let bot: StandInBot;
  let messenger: Messenger;
  const start = () => startAtTest({ redis: redis.redis, botUrl: bot.url });
  beforeEach(async () => {
    bot = await startStandInBot();
    bot.script = () => stream('s1', 'Yes', true);
    messenger = await start();
  });
  afterEach(async () => {
    await messenger.close();
    await bot.close();
  });

  test('is one message for concurrent and later repetitions, also after a restart', async () => {
    const clientId = randomUUID();
    const sent = await Promise.all(Array.from({ length: askings }, () => send(messenger, 'lin', clientId)));
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
    expect(sent[0]?.clientId).toBe(clientId);
    await messenger.driver.waitForAnswer(sent[0]?.id ?? '');
    await messenger.close();
    messenger = await start();
    expect(await send(messenger, 'lin', clientId)).toMatchObject({ id: sent[0]?.id, state: 'sent' });
    expect((await messenger.driver.messages('lin')).map(({ sender }) => sender)).toEqual(['lin', 'bot']);
    expect(bot.messages()).toHaveLength(1);
  });

  test('is another message for another id, or for another person with the same id', async () => {
    const clientId = randomUUID();
    const all = [
      await send(messenger, 'lin', clientId),
      await send(messenger, 'lin', randomUUID()),
      await send(messenger, 'ada', clientId),
    ];
    expect(new Set(all.map(({ id }) => id)).size).toBe(3);
    await until(() => bot.messages().length === 3, 'the bot heard of all three');
  });
});

test('repetitions of a message with a client id are one event on Slack', async () => {
  const bot = await startStandInSlackBot();
  const messenger = await startSlackAtTest({ redis: redis.redis, botUrl: bot.url });
  const clientId = randomUUID();
  const sent = await Promise.all(Array.from({ length: askings }, () => send(messenger, 'lin', clientId)));
  expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
  await send(messenger, 'lin', randomUUID(), 'Something else');
  await until(() => bot.events.length >= 2, 'the bot heard of both');
  expect(bot.events).toHaveLength(2);
  await messenger.close();
  await bot.close();
});
