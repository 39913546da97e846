import { expect, test } from '@jest/globals';
import { helloStream } from '../chat/scripted-chat-server.ts';
import { useSlackTown } from '../support/slack-town.ts';
import { untilTrue } from '../support/town.ts';
import { isForSummary, linkAs, startLeakBot, summed, untilDone } from './leak-run.ts';
import { canariesIn, questionCanary } from './leak-model.ts';

const town = useSlackTown();
const LONG = 'and so on '.repeat(40);
const PERSON = { platform: 'slack', chatUserId: 'UP1' } as const;
const OF_FIRST = 1;
const OF_SECOND = 2;

async function say(canary: number, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await town.sender.direct(PERSON.chatUserId, `${questionCanary(canary)} ${LONG}`);
    await untilDone(town);
    await untilTrue(async () => (await town.redis.keys('{summaries}:*:de:*')).length === 0);
  }
  // A minute's messages are sent within a second here.
  await town.redis.del('none', ...(await town.redis.keys('*:rate:*')));
}

const callsHolding = (canary: number) =>
  town.chat.calls.filter(({ body }) => canariesIn(JSON.stringify(body['messages'])).includes(canary));
const hasSummary = () => town.chat.calls.some(({ body }) => /ks\d{5}x/.test(JSON.stringify(body['messages'])));

test('what is summed up under one account reaches neither prompt nor summary of another [link-is-told]', async () => {
  town.chat.script((response, call) => helloStream(isForSummary(call) ? summed(call) : LONG)(response, call));
  await startLeakBot(town, 'member');
  await linkAs(town, PERSON, 'acc-1');
  await say(OF_FIRST, 8);
  expect(hasSummary()).toBe(true);

  town.chat.calls.splice(0);
  await linkAs(town, PERSON, 'acc-2');
  await say(OF_SECOND, 8);
  expect(hasSummary()).toBe(true);
  expect(callsHolding(OF_FIRST)).toEqual([]);

  town.chat.calls.splice(0);
  await linkAs(town, PERSON, 'acc-1');
  await say(OF_FIRST, 4);
  expect(callsHolding(OF_SECOND)).toEqual([]);
}, 60_000);

test('/unlink clears the summary: who signs in again starts without it', async () => {
  town.chat.script((response, call) => helloStream(isForSummary(call) ? summed(call) : LONG)(response, call));
  await startLeakBot(town, 'member');
  await linkAs(town, PERSON, 'acc-1');
  await say(OF_FIRST, 8);
  expect(hasSummary()).toBe(true);
  await town.sender.direct(PERSON.chatUserId, '/unlink');
  await untilDone(town);
  const values = await Promise.all((await town.redis.keys('*:summary:*')).map((key) => town.redis.get(key)));
  expect(values).toEqual([expect.stringMatching(/^-/)]);

  town.chat.calls.splice(0);
  await linkAs(town, PERSON, 'acc-1');
  await say(OF_SECOND, 2);
  expect(callsHolding(OF_FIRST)).toEqual([]);
}, 60_000);
