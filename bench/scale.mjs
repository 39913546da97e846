import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { freePort, startEmbeddedRedis } from '../dist-modules/bot/app/local/embedded-redis.js';
import { median, percentile, rounded } from './load.mjs';
import { computedMs } from './measured-process.mjs';
import { redisBytes, untilAnswered } from './redis-watch.mjs';
import { makeSlackEvents, newPeople } from './slack-events.mjs';
import { computed, floodOnce, inTurn, memory, redisComputed, withSubjects } from './subjects.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
/** Reduces all counts, to try a scene. */
const SHARE = Number(process.env.BENCH_SHARE ?? 1);
const share = (count) => Math.ceil(count * SHARE);

const FLOOD = { pace: { tokens: 100 }, count: share(400), atOnce: 128 };
/** Without limits per person, so that one person can fill a history. */
const UNLIMITED = { LIMIT_PERSON_PER_MINUTE: '10000', LIMIT_CHAT_PER_MINUTE: '10000' };
const IDLE_MS = 10_000;
const SCENES = { idle, history, tokens, workers, shards, day };

/** How costs grow with stored conversations, histories, lengths, processes, shards and a day of use. */
export async function benchScale(report) {
  for (const scene of (process.env.BENCH_SCENES ?? Object.keys(SCENES).join(',')).split(','))
    await withSubjects((bench) => SCENES[scene]({ ...bench, report }));
}

/** Medians of each sample's fields, and their ratios to a subject. */
function rowOf(at, name, base, fields) {
  const values = fields.map((field) => [field, at(name, (sample) => sample[field])]);
  const ratios = values.map(([field, value]) => [
    `${field.replace('Ms', '')}Ratio`,
    rounded(value / at(base, (sample) => sample[field])),
  ]);
  return Object.fromEntries([...values.map(([field, value]) => [field, rounded(value, 3)]), ...ratios]);
}

async function idleShare(subject) {
  const [beforeMs, redisBeforeMs] = [computed(subject), redisComputed(subject)];
  await sleep(IDLE_MS);
  const percent = (ms) => rounded((ms / IDLE_MS) * 100, 3);
  return {
    idlePercent: percent(computed(subject) - beforeMs),
    redisIdlePercent: percent(redisComputed(subject) - redisBeforeMs),
  };
}

const IDLE = { conversations: share(1_000), turns: 3, copies: 99 };

/** 100,000 conversations of three turns: 1,000 real ones and 99 copies of all their keys. */
async function idle({ conversations, model, start, parley, report }) {
  const subjects = [];
  for (const name of ['few', 'many'])
    subjects.push(await start(name, [parley('receiver,worker', { settings: UNLIMITED })]));
  const [few, full] = subjects;
  for (let turn = 0; turn < IDLE.turns; turn += 1)
    await floodOnce({ conversations, model, subject: few, ...FLOOD, count: IDLE.conversations });
  const people = newPeople(IDLE.conversations);
  for (let turn = 0; turn < IDLE.turns; turn += 1) {
    const events = makeSlackEvents(people.length, people);
    await floodOnce({ conversations, model, subject: full, ...FLOOD, events });
  }
  const real = await redisBytes(full.redisUrl);
  const keys = await copyKeys(full.redisUrl, IDLE.copies);
  const filled = await redisBytes(full.redisUrl);
  report({
    case: `${people.length * (1 + IDLE.copies)} idle conversations of ${IDLE.turns} turns, Redis`,
    bytesEach: Math.round((filled.used - real.used) / people.length / IDLE.copies),
    mib: Math.round(filled.used / 2 ** 20),
    bytesByKind: JSON.stringify(keys),
  });
  const shares = new Map();
  for (const subject of subjects) shares.set(subject, { ...(await idleShare(subject)), mib: memory(subject) });
  const at = await inTurn({ rounds: ROUNDS, subjects }, (subject) =>
    floodOnce({ conversations, model, subject, ...FLOOD }),
  );
  for (const subject of subjects)
    report({
      case: `idle conversations, ${subject.name}`,
      ...shares.get(subject),
      ...rowOf(at, subject.name, 'few', ['cpuMs', 'redisCpuMs']),
    });
}

/** Copies all keys of people and conversations under longer names. @returns bytes of each kind per conversation */
async function copyKeys(redisUrl, copies) {
  const client = new Redis(redisUrl);
  const keys = (await client.keys('{p*}:*')).filter((key) => /^\{p\d+\}:.*[0-9a-f]{32}/.test(key));
  const bytes = {};
  for (const key of keys) {
    const kind = key.split(':')[1];
    bytes[kind] = (bytes[kind] ?? 0) + (await client.memory('USAGE', key)) / IDLE.conversations;
    const script = `for copy = 1, ARGV[1] do redis.call('COPY', KEYS[1], KEYS[1] .. '~' .. copy) end`;
    await client.eval(script, 1, key, copies);
  }
  client.disconnect();
  return Object.fromEntries(Object.entries(bytes).map(([kind, each]) => [kind, Math.round(each)]));
}

const HISTORY = { conversations: 24, turns: share(200), atOnce: 16 };

/** A turn with a full history beside one with none, in the same process. */
async function history({ conversations, model, start, parley, report }) {
  const subject = await start('Parley', [parley('receiver,worker', { settings: UNLIMITED })]);
  const people = newPeople(HISTORY.conversations);
  const turn = async (who) => {
    const events = makeSlackEvents(who.length, who);
    const before = await redisBytes(subject.redisUrl);
    const sample = await floodOnce({ conversations, model, subject, ...FLOOD, atOnce: HISTORY.atOnce, events });
    const after = await redisBytes(subject.redisUrl);
    const each = (field) => (after[field] - before[field]) / who.length;
    return { ...sample, redisBytesIn: each('received'), redisBytesOut: each('sent') };
  };
  for (let done = 0; done < HISTORY.turns; done += 1) await turn(people);
  const subjects = [{ name: 'no history' }, { name: 'full history' }];
  const at = await inTurn({ rounds: ROUNDS * 5, subjects }, ({ name }) =>
    turn(name === 'full history' ? people : newPeople(people.length)),
  );
  const fields = ['cpuMs', 'redisCpuMs', 'promptBytes', 'redisBytesIn', 'redisBytesOut'];
  for (const { name } of subjects) report({ case: `turn, ${name}`, ...rowOf(at, name, 'no history', fields) });
}

const LENGTHS = [
  { tokens: 100, count: share(400) },
  { tokens: 1_000, count: share(200) },
  { tokens: 4_000, count: share(100) },
];
/** At once, as in the flood, and as a stream with edits. */
const SPEEDS = [{}, { firstMs: 50, perSecond: 400 }];

/** Longer answers beside the floor that has no guarantees. */
async function tokens({ conversations, model, start, floor, parley, report }) {
  const subjects = [await start('L5', [floor('L5')]), await start('Parley', [parley('receiver,worker')])];
  for (const subject of subjects) await floodOnce({ conversations, model, subject, ...FLOOD });
  for (const speed of SPEEDS) {
    const cpu = new Map();
    for (const { tokens: length, count } of LENGTHS) {
      const pace = { tokens: length, ...speed };
      const at = await inTurn({ rounds: speed.perSecond ? 1 : ROUNDS, subjects }, (subject) =>
        floodOnce({ conversations, model, subject, pace, count, atOnce: 64 }),
      );
      for (const { name } of subjects) {
        const cpuMs = at(name, (sample) => sample.cpuMs);
        const last = cpu.get(name);
        cpu.set(name, { cpuMs, length });
        report({
          case: `${length} tokens ${speed.perSecond ? `at ${speed.perSecond}/s` : 'at once'}, ${name}`,
          ...rowOf(at, name, 'L5', ['cpuMs', 'redisCpuMs']),
          usPerFurtherToken: last && rounded(((cpuMs - last.cpuMs) * 1_000) / (length - last.length), 2),
        });
      }
    }
  }
}

/** One receiver and several worker processes. */
async function workers({ conversations, model, start, parley, report }) {
  const subjects = [];
  for (const count of [1, 2, 4]) {
    const processes = [parley('receiver'), ...Array.from({ length: count }, () => parley('worker'))];
    subjects.push(await start(`${count} workers`, processes));
  }
  await compareFloods({ conversations, model, subjects, report });
}

/** Wake queues on a cluster of three masters, and a single Redis. */
async function shards({ conversations, model, ends, start, parley, report }) {
  const subjects = [await start('one Redis', [parley('receiver'), parley('worker')])];
  for (const count of [1, 4, 16]) {
    const settings = { QUEUE_SHARDS: String(count) };
    const processes = ['receiver', 'worker'].map((roles) => parley(roles, { settings }));
    subjects.push(await start(`cluster, ${count} shards`, processes, await startCluster(ends)));
  }
  await compareFloods({ conversations, model, subjects, report });
}

async function startCluster(ends) {
  const servers = [];
  for (let count = 0; count < 3; count += 1) {
    let port = await freePort();
    // The port of the cluster's bus is 10,000 higher, and must not be one of outgoing connections.
    while (port > 22_000) port = await freePort();
    const server = await startEmbeddedRedis({ port, extraArguments: ['--cluster-enabled', 'yes'] });
    ends.push(() => server.stop());
    servers.push(server);
  }
  const hosts = servers.map(({ url }) => new URL(url).host);
  await promisify(execFile)('redis-cli', ['--cluster', 'create', ...hosts, '--cluster-yes']);
  return { url: servers.map(({ url }) => url).join(','), pids: servers.map(({ pid }) => pid) };
}

/** Floods in turn, then without work. */
async function compareFloods({ conversations, model, subjects, report }) {
  for (const subject of subjects) await floodOnce({ conversations, model, subject, ...FLOOD });
  const at = await inTurn({ rounds: ROUNDS, subjects }, (subject) =>
    floodOnce({ conversations, model, subject, ...FLOOD }),
  );
  for (const subject of subjects) {
    const row = rowOf(at, subject.name, subjects[0].name, ['cpuMs', 'redisCpuMs', 'perSecond']);
    report({ case: subject.name, ...row, ...(await idleShare(subject)), mib: memory(subject) });
  }
}

const DAY = {
  people: share(10_000),
  /** From 8:00 to 22:00. */
  realSec: 14 * 3_600,
  seconds: 200,
  perSecond: 50 * SHARE,
  burst: { everySec: 25, seconds: 5, perSecond: Number(process.env.BENCH_BURST ?? 120) * SHARE },
};

/** A day of lectures: a steady rate, and at the start of each lecture hour a burst. */
async function day({ conversations, model, start, parley, report }) {
  model.pace = { tokens: 100, firstMs: 50, perSecond: 200 };
  const names = ['receiver', 'worker', 'worker'];
  const subject = await start(
    'day',
    names.map((roles) => parley(roles)),
  );
  await floodOnce({ conversations, model, subject, ...FLOOD });
  model.pace = { tokens: 100, firstMs: 50, perSecond: 200 };
  const dues = [];
  for (let second = 0; second < DAY.seconds; second += 1) {
    const isBurst = second % DAY.burst.everySec >= DAY.burst.everySec - DAY.burst.seconds;
    const perSecond = isBurst ? DAY.burst.perSecond : DAY.perSecond;
    for (let index = 0; index < perSecond; index += 1)
      dues.push({ isBurst, dueMs: (second + index / perSecond) * 1_000 });
  }
  const people = newPeople(DAY.people);
  const events = makeSlackEvents(
    dues.length,
    dues.map((_, index) => people[index % people.length]),
  );
  const [cpuBefore, redisBeforeMs] = [subject.pids.map(computedMs), redisComputed(subject)];
  const { seen, acksMs } = await conversations.runAtTimes(
    subject.url,
    events.map((event, index) => ({ event, dueMs: dues[index].dueMs })),
  );
  await untilAnswered(subject.redisUrl);
  const redisMs = redisComputed(subject) - redisBeforeMs;
  const whole = (wanted) =>
    seen
      .filter(({ final }, index) => final !== undefined && dues[index].isBurst === wanted)
      .map((moments) => moments.final - moments.sent);
  const bytes = await redisBytes(subject.redisUrl);
  report({
    case: `a day of ${people.length} people in ${DAY.seconds} s`,
    compression: DAY.realSec / DAY.seconds,
    questions: events.length,
    answered: seen.filter(({ final }) => final !== undefined).length,
    ackP99Ms: rounded(percentile(acksMs, 0.99)),
    redisMib: Math.round(bytes.used / 2 ** 20),
    cpuMs: JSON.stringify(
      names.map((name, index) => [name, Math.round(computedMs(subject.pids[index]) - cpuBefore[index])]),
    ),
    redisCpuMs: Math.round(redisMs),
    mib: memory(subject),
  });
  for (const [name, isBurst] of [
    ['quiet', false],
    ['bursts', true],
  ]) {
    const times = whole(isBurst);
    report({
      case: `whole answer, ${name}`,
      count: times.length,
      p50Ms: median(times),
      p99Ms: percentile(times, 0.99),
    });
  }
}
