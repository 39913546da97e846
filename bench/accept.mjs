import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { startEmbeddedRedis, freePort } from '../dist/local/embedded-redis.js';
import { startChatStandIn } from './chat-stand-in.mjs';
import { makeDeliveries } from './deliveries.mjs';
import { median, percentile, sendAtRate, sendInTurn, sendMany } from './load.mjs';
import { memoryMib, startMeasured } from './measured-process.mjs';

const FLOOR = 'Koa + body parser + HMAC + one awaited BullMQ add';
const ROUNDS = 5;
const ALONE = 200;
const AT_ONCE = 4_000;
const AT_RATE = { perSecond: 200, seconds: 5 };

const token = randomBytes(8).toString('hex');
const aesKey = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG';

function parleyEnv(redisUrl, chatUrl, port, roles) {
  return {
    ROLES: roles,
    PORT: String(port),
    HOST: '127.0.0.1',
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    REDIS_URL: redisUrl,
    SECRET_KEY: randomBytes(32).toString('base64'),
    CHAT_BASE_URL: chatUrl,
    CHAT_API_KEY: 'sk-bench-0123456789',
    SIGN_IN: 'off',
    WECOM_BOT_TOKEN: token,
    WECOM_BOT_AES_KEY: aesKey,
    WECOM_BOT_NAME: 'Parley',
    LOG_LEVEL: 'warn',
    LOG_FORMAT: 'json',
  };
}

/** Measures both in turn, round by round, so that a drift of the machine meets both alike. */
async function compare(subjects, settle) {
  const samples = Object.fromEntries(subjects.map(({ name }) => [name, { alone: [], perSecond: [], atRate: [] }]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { name, url, deliver } of subjects) {
      await settle();
      samples[name].alone.push(median(await sendInTurn(url, deliver(ALONE))));
      await settle();
      samples[name].perSecond.push(await sendMany(url, deliver(AT_ONCE)));
      await settle();
      samples[name].atRate.push(
        percentile(await sendAtRate(url, deliver(AT_RATE.perSecond * AT_RATE.seconds), AT_RATE), 0.99),
      );
    }
  }
  return samples;
}

function describeAccept(subject, floor, samples) {
  const [own, base] = [samples[subject], samples[floor]];
  const ratio = (pick) => Number((median(pick(own)) / median(pick(base))).toFixed(2));
  return {
    case: `accept, ${subject}`,
    floor,
    medianMs: Number(median(own.alone).toFixed(3)),
    floorMedianMs: Number(median(base.alone).toFixed(3)),
    medianRatio: ratio(({ alone }) => alone),
    acksPerSecond: Math.round(median(own.perSecond)),
    floorAcksPerSecond: Math.round(median(base.perSecond)),
    acksRatio: ratio(({ perSecond }) => perSecond),
    p99MsAt200: Number(median(own.atRate).toFixed(2)),
    p99Ratio: ratio(({ atRate }) => atRate),
  };
}

/** What accepting a message costs, beside the floor that any such bot pays, in the same run. */
export async function benchAccept(report) {
  const redis = await startEmbeddedRedis();
  const chat = await startChatStandIn();
  const processes = [];
  let secondRedis;
  try {
    const ports = { floor: await freePort(), receiver: await freePort(), both: await freePort() };
    const floor = await startMeasured(['bench/floor.mjs'], { PORT: String(ports.floor), REDIS_URL: redis.url });
    processes.push(floor);
    const receiver = await startMeasured(['dist/main.js'], parleyEnv(redis.url, chat.url, ports.receiver, 'receiver'));
    processes.push(receiver);
    const webhook = (port) => `http://127.0.0.1:${port}/webhooks/wecom`;
    const deliver = (count) => makeDeliveries({ token, aesKey, count });
    const acceptSamples = await compare(
      [
        { name: FLOOR, url: `http://127.0.0.1:${ports.floor}/`, deliver },
        { name: 'receiver alone', url: webhook(ports.receiver), deliver },
      ],
      async () => undefined,
    );
    report(describeAccept('receiver alone', FLOOR, acceptSamples));
    await receiver.stop();

    // The second Parley gets a Redis without the first one's backlog.
    secondRedis = await startEmbeddedRedis();
    const both = await startMeasured(
      ['dist/main.js'],
      parleyEnv(secondRedis.url, chat.url, ports.both, 'receiver,worker'),
    );
    processes.push(both);
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    report({ case: 'memory, receiver and worker in one process, idle', mib: memoryMib(both.pid), targetMib: 160 });
    const bothSamples = await compare(
      [
        { name: FLOOR, url: `http://127.0.0.1:${ports.floor}/`, deliver },
        {
          name: 'receiver and worker in one',
          url: webhook(ports.both),
          deliver,
        },
      ],
      () => untilAnswered(secondRedis.url),
    );
    report(describeAccept('receiver and worker in one', FLOOR, bothSamples));
    report({ case: 'memory, receiver and worker in one process, after the load', mib: memoryMib(both.pid) });
  } finally {
    for (const running of processes) await running.stop();
    await chat.stop();
    await redis.stop();
    await secondRedis?.stop();
  }
}

/** Waits until nothing waits for an answer any more, so that one section's backlog is not the next one's load. */
async function untilAnswered(url) {
  const client = new Redis(url);
  while ((await client.keys('{p*}:pending')).length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  client.disconnect();
}
