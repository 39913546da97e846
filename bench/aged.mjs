import { Redis } from 'ioredis';
import { median, percentile, rounded, sendAtRate } from './load.mjs';
import { untilAnswered } from './redis-watch.mjs';
import { makeSlackEvents } from './slack-events.mjs';
import { floodOnce, inTurn, memory, withSubjects } from './subjects.mjs';

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
export function benchAged(report) {
  return withSubjects(async ({ conversations, model, startRedis, start, parley }) => {
    const subjects = [];
    for (const name of ['new', 'aged']) {
      const redis = await startRedis();
      if (name === 'aged') await age(redis.url);
      subjects.push(await start(name, [parley('receiver,worker')], redis));
    }
    const measure = (subject) => measureOnce({ conversations, model, subject });
    for (const subject of subjects) await measure(subject);
    const at = await inTurn({ rounds: ROUNDS, subjects }, measure);
    for (const subject of subjects) {
      const row = { case: `history, ${subject.name}`, mib: memory(subject) };
      for (const what of ['perSecond', 'cpuMs', 'redisCpuMs', 'ackP50Ms', 'finalP50Ms']) {
        const pick = ({ [what]: value }) => value;
        row[what] = rounded(at(subject.name, pick), 3);
        row[`${what.replace('Ms', '')}Ratio`] = rounded(at(subject.name, pick) / at('new', pick));
      }
      report(row);
    }
  });
}

async function measureOnce({ conversations, model, subject }) {
  const { seen, ...sample } = await floodOnce({ conversations, model, subject, ...FLOOD });
  const acks = await sendAtRate(subject.url, makeSlackEvents(AT_RATE.perSecond * AT_RATE.seconds), AT_RATE);
  await untilAnswered(subject.redisUrl);
  const finalP50Ms = median(seen.map(({ sent, final }) => final - sent));
  return { ...sample, ackP50Ms: percentile(acks, 0.5), finalP50Ms };
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
