import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import type { MessengerEvent, StreamEvent } from '../../src/simulator/api.ts';
import { RecentEvents } from '../../src/simulator/recent-events.ts';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { startAtTest, until } from './messenger-at-test.ts';
import { startStandInBot, stream, type StandInBot } from './stand-in-bot.ts';
import { useTestRedis } from '../support/use-test-redis.ts';
import { tries } from '../support/tries.ts';

type Told = { id: string | undefined } & (MessengerEvent | StreamEvent);

describe('a page that reconnects to its event stream', () => {
  const redis = useTestRedis();
  let bot: StandInBot;
  let messenger: Messenger;
  beforeEach(async () => {
    await redis.redis.flushall();
    bot = await startStandInBot();
    bot.script = ({ text }) => stream('s1', `About ${text?.content}`, true);
    messenger = await startAtTest({ redis: redis.redis, botUrl: bot.url, timing: { beatMs: 20 } });
  });
  afterEach(async () => {
    await messenger.close();
    await bot.close();
  });

  async function follow(query = '', headers: Record<string, string> = {}): Promise<{ told: Told[]; end(): void }> {
    const leave = new AbortController();
    const url = `${messenger.url}/api/people/lin/events${query}`;
    const response = await fetch(url, { signal: leave.signal, headers });
    const told: Told[] = [];
    const parser = createParser({
      onEvent: ({ event, data, id }) => told.push({ name: event, data: JSON.parse(data) as unknown, id } as Told),
    });
    const read = async () => {
      for await (const chunk of response.body ?? []) parser.feed(Buffer.from(chunk).toString());
    };
    read().catch(() => undefined);
    await until(() => told.length > 0, 'the stream says hello');
    return { told, end: () => leave.abort() };
  }
  const messagesIn = (told: readonly Told[]) =>
    told.flatMap((one) => (one.name === 'message' ? [`${one.data.text} (${one.data.state})`] : []));
  const ask = async (text: string) => messenger.driver.waitForAnswer((await messenger.driver.send('lin', text)).id);

  test('gets a heartbeat every few seconds, so that silence indicates a lost connection', async () => {
    const { told, end } = await follow();
    expect(told[0]).toMatchObject({ name: 'hello', data: { resumed: false } });
    await until(() => told.some(({ name }) => name === 'beat'), 'a beat came');
    end();
  });

  test('gets only the missed events, with the newest state of each object', async () => {
    const before = await follow();
    await ask('trees');
    await until(() => messagesIn(before.told).includes('About trees (final)'), 'the answer was seen');
    before.end();
    const lastId = before.told.findLast(({ id }) => id !== undefined)?.id ?? '';
    await ask('birds');
    for (const back of [await follow(`?after=${lastId}`), await follow('', { 'last-event-id': lastId })]) {
      expect(back.told[0]).toMatchObject({ name: 'hello', data: { resumed: true }, id: lastId });
      await until(() => messagesIn(back.told).length >= 2, 'what was missed came');
      expect(messagesIn(back.told)).toEqual(['birds (sent)', 'About birds (final)']);
      back.end();
    }
  });

  test('is told to fetch everything again if its last event is from another process', async () => {
    const before = await follow();
    await ask('trees');
    before.end();
    await messenger.close();
    messenger = await startAtTest({ redis: redis.redis, botUrl: bot.url });
    const lastId = before.told.findLast(({ id }) => id !== undefined)?.id ?? '';
    for (const id of [lastId, 'nonsense', '']) {
      const back = await follow(`?after=${id}`);
      expect(back.told[0]).toMatchObject({ name: 'hello', data: { resumed: false } });
      back.end();
    }
  });
});

describe('the recent events', () => {
  const event = fc.record({ thing: fc.nat(400), version: fc.nat() }).map(({ thing, version }): MessengerEvent => ({
    name: 'status',
    data: { conversationId: String(thing), text: String(version) },
  }));
  const stateOf = (events: readonly MessengerEvent[]) =>
    new Map(events.flatMap(({ name, data }) => (name === 'status' ? [[data.conversationId, data.text]] : [])));

  test('complete the events that a page saw before any point, or report that they cannot', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 900, size: 'max' }), fc.nat(900), (events, left) => {
        const recent = new RecentEvents(0);
        events.forEach((one, index) => recent.add(index + 1, one));
        const missed = recent.since(left);
        if (missed === undefined) {
          expect(stateOf(events).size).toBeGreaterThan(300);
          return;
        }
        const seen = [...events.slice(0, left), ...missed.map(([, one]) => one)];
        expect(Object.fromEntries(stateOf(seen))).toEqual(Object.fromEntries(stateOf(events)));
        expect(missed.every(([number]) => number > left)).toBe(true);
      }),
      { numRuns: tries(60), endOnFailure: true },
    );
  });
});
