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

/** Waits until each person has exactly this many answers. */
async function untilAnswered(times: number): Promise<void> {
  const expected = Array.from({ length: times }, () => 'Here.');
  for (const userId of PEOPLE) await deployment.untilShown(`D${userId}`, expected, 60_000);
}

async function end(...bots: ParleyProcess[]): Promise<void> {
  for (const bot of bots) bot.kill('SIGTERM');
  await Promise.all(bots.map(({ ended }) => ended));
}

test('a changed number of shards neither repeats nor delays a running or waiting question', async () => {
  const port = String(await freePort());
  const newSender = createSlackSender(
    `http://127.0.0.1:${port}/webhooks/slack`,
    deployment.env['SLACK_SIGNING_SECRET'] ?? '',
  );
  const before = [await deployment.startProcess({ ROLES: 'receiver', QUEUE_SHARDS: '1' }), await startWorker('1')];
  const receiver = await deployment.startProcess({ ROLES: 'receiver', QUEUE_SHARDS: '3', PORT: port });
  const worker = await startWorker('3');
  // During each answer, a question of the same conversation is stored with the other number of shards.
  deployment.chat.script(slowly);
  await askAll(deployment.sender);
  await untilTrue(() => deployment.chat.calls.length === PEOPLE.length);
  await askAll(newSender);
  await untilAnswered(2);
  expect(deployment.chat.calls).toHaveLength(2 * PEOPLE.length);

  // Back to the first number, with messages waiting in shards that the new worker does not read. The worker is started
  // first, so that its start time does not count.
  await end(...before, worker);
  const last = await startWorker('1');
  await askAll(newSender);
  await untilAnswered(3);
  expect(deployment.chat.calls).toHaveLength(3 * PEOPLE.length);
  const said = [...before, worker, receiver, last].map((bot) => bot.output()).join('');
  expect(said).not.toContain('the sweeper woke waiting conversations');
}, 180_000);
