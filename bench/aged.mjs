import { Redis } from 'ioredis';
import { startEmbeddedRedis, freePort } from '../dist-modules/bot/app/local/embedded-redis.js';
import { createConversations } from './conversations.mjs';
import { median, percentile, rounded, sendAtRate } from './load.mjs';
import { computedMs, memoryMib, startMeasured } from './measured-process.mjs';
import { startModelStandIn } from './model-stand-in.mjs';
import { parleyEnv, slackEnv } from './parley-env.mjs';
import { untilAnswered } from './redis-watch.mjs';
import { makeSlackEvents } from './slack-events.mjs';
import { startSlackStandIn } from './slack-stand-in.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const REMEMBERED_DELIVERIES = 1_000_000;
const IDLE_CONVERSATIONS = 100_000;
/** A history keeps only its newest 200 turns. */
const TURNS_KEPT = 200;
const CONVERSATIONS_WITH_ALL_THEIR_TURNS = 50;
const SCRIPT_STEP = 10_000;
const FLOOD = { pace: { tokens: 100 }, count: 600, atOnce: 128 };
const AT_RATE = { perSecond: 200, seconds: 4 };
const DAY_MS = 86_400_000;

/** Cost of years of use: the same product on a new Redis and on a filled one, in the same run. */
export async function benchAged(report) {
  const conversations = createConversations();
  const model = await startModelStandIn(conversations.heard);
  const slack = await startSlackStandIn(conversations.heard);
  const ends = [() => model.stop(), () => slack.stop()];
  try {
    model.pace = FLOOD.pace;
    const subjects = [];
    for (const name of ['new', 'aged']) {
      const redis = await startEmbeddedRedis();
      ends.push(() => redis.stop());
      if (name === 'aged') await age(redis.url);
      const port = await freePort();
      const platform = { ...slackEnv(slack.url), WORKER_CONCURRENCY: '2500' };
      const env = parleyEnv({ redisUrl: redis.url, port, roles: 'receiver,worker', chatUrl: model.url, platform });
      const running = await startMeasured(['dist/main.js'], env);
      ends.push(() => running.stop());
      const url = `http://127.0.0.1:${port}/webhooks/slack`;
      subjects.push({ name, url, pid: running.pid, redisUrl: redis.url, redisPid: redis.pid, samples: [] });
    }
    for (const subject of subjects) await measure(conversations, subject);
    for (let round = 0; round < ROUNDS; round += 1)
      for (const subject of subjects) subject.samples.push(await measure(conversations, subject));
    const at = ({ samples }, what) => median(samples.map(({ [what]: value }) => value));
    const [fresh] = subjects;
    for (const subject of subjects) {
      const row = { case: `history, ${subject.name}`, mib: memoryMib(subject.pid) };
      for (const what of ['perSecond', 'cpuMs', 'redisCpuMs', 'ackP50Ms', 'finalP50Ms']) {
        row[what] = rounded(at(subject, what), 3);
        row[`${what.replace('Ms', '')}Ratio`] = rounded(at(subject, what) / at(fresh, what));
      }
      report(row);
    }
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function measure(conversations, { url, pid, redisPid, redisUrl }) {
  const [beforeMs, redisBeforeMs] = [computedMs(pid), computedMs(redisPid)];
  const startedMs = performance.now();
  const seen = await conversations.run(url, makeSlackEvents(FLOOD.count), FLOOD.atOnce);
  const tookMs = performance.now() - startedMs;
  await untilAnswered(redisUrl);
  const cpuMs = (computedMs(pid) - beforeMs) / FLOOD.count;
  const redisCpuMs = (computedMs(redisPid) - redisBeforeMs) / FLOOD.count;
  const acks = await sendAtRate(url, makeSlackEvents(AT_RATE.perSecond * AT_RATE.seconds), AT_RATE);
  await untilAnswered(redisUrl);
  const finalP50Ms = median(seen.map(({ sent, final }) => final - sent));
  return { perSecond: (FLOOD.count / tookMs) * 1_000, cpuMs, redisCpuMs, ackP50Ms: percentile(acks, 0.5), finalP50Ms };
}

/**
 * Fills Redis as after years of use, with separate scripts. The product skips records that no key opens, so the texts need
 * not be sealed.
 */
async function age(redisUrl) {
  const client = new Redis(redisUrl);
  for (let from = 0; from < REMEMBERED_DELIVERIES; from += SCRIPT_STEP) {
    await client.eval(
      `for index = ARGV[1], ARGV[1] + ARGV[2] - 1 do
         local id = redis.sha1hex('delivery' .. index)
         local key = '{p' .. (index % 64) .. '}:message:' .. id
         redis.call('HSET', key, 'state', 'final', 'conversation', string.sub(id, 1, 32), 'owner', string.sub(id, 9, 40),
           'atMs', '1800000000000', 'finished', '1', 'turn', id, 'epoch', '9')
         redis.call('PEXPIRE', key, ARGV[3])
       end`,
      0,
      from,
      SCRIPT_STEP,
      DAY_MS,
    );
  }
  for (let from = 0; from < IDLE_CONVERSATIONS; from += SCRIPT_STEP) {
    await client.eval(
      `local turn = string.rep('x', 700)
       for index = ARGV[1], ARGV[1] + ARGV[2] - 1 do
         local id = string.sub(redis.sha1hex('conversation' .. index), 1, 32)
         local tag = '{p' .. (index % 64) .. '}:'
         redis.call('HSET', tag .. 'state:' .. id, 'epoch', '9', 'seq', '9', 'crashes', '0')
         local turns = index < tonumber(ARGV[4]) and tonumber(ARGV[5]) or 3
         for _ = 1, turns do redis.call('RPUSH', tag .. 'history:' .. id, turn) end
         redis.call('PEXPIRE', tag .. 'state:' .. id, ARGV[3])
         redis.call('PEXPIRE', tag .. 'history:' .. id, ARGV[3])
       end`,
      0,
      from,
      SCRIPT_STEP,
      DAY_MS,
      CONVERSATIONS_WITH_ALL_THEIR_TURNS,
      TURNS_KEPT,
    );
  }
  client.disconnect();
}
