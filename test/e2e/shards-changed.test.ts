import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { helloStream, type Answer } from '../bot/model/scripted-chat-server.ts';
import type { ParleyProcess } from '../support/parley-process.ts';
import { createSlackSender, type SlackSender } from '../support/slack-sender.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

const deployment = useSlackDeployment();
const PEOPLE = Array.from({ length: 6 }, (_, index) => `US${index}`);
const slowly: Answer = async (response, call) => {
  await sleep(2_000);
  await helloStream('Here.')(response, call);
};
const startWorker = (shards: string) => deployment.startProcess({ ROLES: 'worker', QUEUE_SHARDS: shards });
const askAll = (sender: SlackSender) => Promise.all(PEOPLE.map((userId) => sender.direct(userId, 'a question')));

/** Waits until everybody has so many answers, and no more. */
async function untilAnswered(times: number): Promise<void> {
  const expected = Array.from({ length: times }, () => 'Here.');
  for (const userId of PEOPLE) await deployment.untilShown(`D${userId}`, expected, 60_000);
}

async function end(...bots: ParleyProcess[]): Promise<void> {
  for (const bot of bots) bot.kill('SIGTERM');
  await Promise.all(bots.map(({ ended }) => ended));
}

test('the number of shards may change while answers run and messages wait: each question is asked once, and none waits for the sweeper', async () => {
  const port = String(await freePort());
  const newSender = createSlackSender(
    `http://127.0.0.1:${port}/webhooks/slack`,
    deployment.env['SLACK_SIGNING_SECRET'] ?? '',
  );
  const before = [await deployment.startProcess({ ROLES: 'receiver', QUEUE_SHARDS: '1' }), await startWorker('1')];
  const receiver = await deployment.startProcess({ ROLES: 'receiver', QUEUE_SHARDS: '3', PORT: port });
  const worker = await startWorker('3');
  // While each answers, a question of the same conversation is woken by the other number.
  deployment.chat.script(slowly);
  await askAll(deployment.sender);
  await untilTrue(() => deployment.chat.calls.length === PEOPLE.length);
  await askAll(newSender);
  await untilAnswered(2);
  expect(deployment.chat.calls).toHaveLength(2 * PEOPLE.length);

  // Back again, with messages that wait in shards of which the new worker was not told. It is up first: how long a start takes says
  // nothing about the shards.
  await end(...before, worker);
  const last = await startWorker('1');
  await askAll(newSender);
  await untilAnswered(3);
  expect(deployment.chat.calls).toHaveLength(3 * PEOPLE.length);
  const said = [...before, worker, receiver, last].map((bot) => bot.output()).join('');
  expect(said).not.toContain('woke conversations again');
}, 180_000);
