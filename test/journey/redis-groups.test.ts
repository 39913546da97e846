import { afterEach, expect, test } from '@jest/globals';
import { helloStream } from '../chat/scripted-chat-server.ts';
import { startRedisCluster, startSentinelGroup, type RedisGroup } from '../support/redis-cluster.ts';
import { useSlackTown } from '../support/slack-town.ts';
import { untilTrue } from '../support/town.ts';

const town = useSlackTown();
let group: RedisGroup | undefined;
afterEach(async () => {
  await town.stopBots();
  await group?.stop();
  group = undefined;
});

const ANSWER = 'It is answered.';
const isReady = async () => (await fetch(`${town.botUrl}/readyz`)).status === 200;
async function askAll(people: string[]): Promise<void> {
  for (const userId of people) await town.sender.direct(userId, 'a question');
}
async function expectAnswered(people: string[]): Promise<void> {
  for (const userId of people) await town.untilShown(`D${userId}`, [ANSWER], 20_000);
}
const peopleOf = (letter: string) => Array.from({ length: 12 }, (_, index) => `U${letter}${index}`);

test('on a Redis Cluster of three masters, with three queues, questions are answered once [repeatable-scripts]', async () => {
  group = await startRedisCluster();
  town.chat.script(helloStream(ANSWER));
  await town.startBot({ REDIS_URL: group.url, QUEUE_SHARDS: '3' });
  await untilTrue(isReady);
  await askAll(peopleOf('C'));
  await expectAnswered(peopleOf('C'));
  const questions = JSON.stringify(town.chat.calls.map(({ body }) => body['messages']));
  expect(town.chat.calls).toHaveLength(12);
  // What was said is known to the next turn, wherever the conversation lies.
  town.chat.script(helloStream('Next.'));
  await town.sender.direct('UC0', 'and then?');
  await town.untilShown('DUC0', [ANSWER, 'Next.']);
  expect(questions).toContain('a question');
  expect(JSON.stringify(town.chat.calls.at(-1)?.body['messages'])).toContain(ANSWER);
  expect(town.lines.filter((line) => /MOVED|CROSSSLOT|a turn failed|a run ended/.test(line))).toEqual([]);
}, 60_000);

test('behind a sentinel questions are answered, and again once its replica has taken over from a killed master [failover]', async () => {
  group = await startSentinelGroup('parley-master');
  town.chat.script(helloStream(ANSWER));
  await town.startBot({ REDIS_URL: group.url, REDIS_SENTINEL_NAME: 'parley-master', QUEUE_SHARDS: '3' });
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
