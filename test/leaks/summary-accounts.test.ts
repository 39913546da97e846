import { expect, test } from '@jest/globals';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';
import { isForSummary, linkAs, startLeakBot, summed, untilDone } from './leak-run.ts';
import { canariesIn, questionCanary } from './leak-model.ts';

const deployment = useSlackDeployment();
const LONG = 'and so on '.repeat(40);
const PERSON = { platform: 'slack', chatUserId: 'UP1' } as const;
const OF_FIRST = 1;
const OF_SECOND = 2;

async function say(canary: number, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await deployment.sender.direct(PERSON.chatUserId, `${questionCanary(canary)} ${LONG}`);
    await untilDone(deployment);
    await untilTrue(async () => (await deployment.redis.keys('{summaries}:*:de:*')).length === 0);
  }
  // The test sends the messages of a minute within a second.
  await deployment.redis.del('none', ...(await deployment.redis.keys('*:rate:*')));
}

const callsHolding = (canary: number) =>
  deployment.chat.calls.filter(({ body }) => canariesIn(JSON.stringify(body['messages'])).includes(canary));
const hasSummary = () => deployment.chat.calls.some(({ body }) => /ks\d{5}x/.test(JSON.stringify(body['messages'])));

test('a summary of one account reaches no prompt or summary of another account [link-is-told]', async () => {
  deployment.chat.script((response, call) => helloStream(isForSummary(call) ? summed(call) : LONG)(response, call));
  await startLeakBot(deployment, 'member');
  await linkAs(deployment, PERSON, 'acc-1');
  await say(OF_FIRST, 8);
  expect(hasSummary()).toBe(true);

  deployment.chat.calls.splice(0);
  await linkAs(deployment, PERSON, 'acc-2');
  await say(OF_SECOND, 8);
  expect(hasSummary()).toBe(true);
  expect(callsHolding(OF_FIRST)).toEqual([]);

  deployment.chat.calls.splice(0);
  await linkAs(deployment, PERSON, 'acc-1');
  await say(OF_FIRST, 4);
  expect(callsHolding(OF_SECOND)).toEqual([]);
}, 60_000);

test('/unlink clears the summary, so a person who signs in again starts without it', async () => {
  deployment.chat.script((response, call) => helloStream(isForSummary(call) ? summed(call) : LONG)(response, call));
  await startLeakBot(deployment, 'member');
  await linkAs(deployment, PERSON, 'acc-1');
  await say(OF_FIRST, 8);
  expect(hasSummary()).toBe(true);
  await deployment.sender.direct(PERSON.chatUserId, '/unlink');
  await untilDone(deployment);
  const values = await Promise.all(
    (await deployment.redis.keys('*:summary:*')).map((key) => deployment.redis.get(key)),
  );
  expect(values).toEqual([expect.stringMatching(/^-/)]);

  deployment.chat.calls.splice(0);
  await linkAs(deployment, PERSON, 'acc-1');
  await say(OF_SECOND, 2);
  expect(callsHolding(OF_FIRST)).toEqual([]);
}, 60_000);
