import { afterEach, expect, test } from '@jest/globals';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { runAdmin } from '../support/run-admin.ts';
import { startRedisCluster, startSentinelGroup, type RedisGroup } from '../support/redis-cluster.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

const deployment = useSlackDeployment();
let group: RedisGroup | undefined;
afterEach(async () => {
  await deployment.stopBots();
  await group?.stop();
  group = undefined;
});

const ANSWER = 'It is answered.';
const isReady = async () => (await fetch(`${deployment.botUrl}/readyz`)).status === 200;
async function askAll(people: string[]): Promise<void> {
  for (const userId of people) await deployment.sender.direct(userId, 'a question');
}
async function expectAnswered(people: string[]): Promise<void> {
  for (const userId of people) await deployment.untilShown(`D${userId}`, [ANSWER], 20_000);
}
const peopleOf = (letter: string) => Array.from({ length: 12 }, (_, index) => `U${letter}${index}`);

test('questions are answered once on a Redis Cluster of three masters with three queues [repeatable-scripts]', async () => {
  group = await startRedisCluster();
  deployment.chat.script(helloStream(ANSWER));
  const env = { REDIS_URL: group.url, QUEUE_SHARDS: '3', WORKER_CONCURRENCY: '7' };
  await deployment.startBot(env);
  await untilTrue(isReady);
  await askAll(peopleOf('C'));
  await expectAnswered(peopleOf('C'));
  const questions = JSON.stringify(deployment.chat.calls.map(({ body }) => body['messages']));
  expect(deployment.chat.calls).toHaveLength(12);
  // The next turn knows the history, whichever master stores the conversation.
  deployment.chat.script(helloStream('Next.'));
  await deployment.sender.direct('UC0', 'and then?');
  await deployment.untilShown('DUC0', [ANSWER, 'Next.']);
  expect(questions).toContain('a question');
  expect(JSON.stringify(deployment.chat.calls.at(-1)?.body['messages'])).toContain(ANSWER);
  const { data } = await runAdmin({ ...deployment.env, ...env }, 'workers');
  expect(data).toMatchObject([{ roles: ['receiver', 'worker'], state: 'alive', maxTurns: 21 }]);
  expect(deployment.lines.filter((line) => /MOVED|CROSSSLOT|a turn failed|a run failed/.test(line))).toEqual([]);
}, 60_000);

test('questions are answered behind a sentinel, also after its replica has replaced a killed master [failover]', async () => {
  group = await startSentinelGroup('parley-master');
  deployment.chat.script(helloStream(ANSWER));
  await deployment.startBot({ REDIS_URL: group.url, REDIS_SENTINEL_NAME: 'parley-master', QUEUE_SHARDS: '3' });
  await untilTrue(isReady);
  await askAll(peopleOf('A'));
  await expectAnswered(peopleOf('A'));
  const master = group.servers.at(-1);
  process.kill(master?.pid ?? 0, 'SIGKILL');
  const startedMs = performance.now();
  await untilTrue(async () => !(await isReady()), 5_000);
  await untilTrue(isReady, 20_000);
  const healedMs = performance.now() - startedMs;
  await askAll(peopleOf('B'));
  await expectAnswered(peopleOf('B'));
  expect(healedMs).toBeLessThan(10_000);
  process.stdout.write(`failover: ready again ${(healedMs / 1_000).toFixed(1)} s after the master was killed\n`);
}, 90_000);
