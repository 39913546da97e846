import { randomBytes } from 'node:crypto';
import { startEmbeddedRedis, freePort } from '../dist-modules/bot/app/local/embedded-redis.js';
import { makeDeliveries } from './deliveries.mjs';
import { median, percentile, rounded, sendAtRate, sendInTurn, sendMany } from './load.mjs';
import { computedMs, memoryMib, startMeasured } from './measured-process.mjs';
import { startModelStandIn } from './model-stand-in.mjs';
import { BUILDS, parleyArgs, parleyEnv, slackEnv } from './parley-env.mjs';
import { countCommands, untilAnswered } from './redis-watch.mjs';
import { makeSlackEvents, SIGNING_SECRET } from './slack-events.mjs';
import { startSlackStandIn } from './slack-stand-in.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SCENES = (process.env.BENCH_SCENES ?? 'floors,slack,wecom,both').split(',');
const ALONE = 100;
const WARM_UP = 6_000;
const AT_ONCE = 6_000;
const AT_RATE = { perSecond: 200, seconds: 5 };
const COUNTED = 50;

const token = randomBytes(8).toString('hex');
const aesKey = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG';
const WECOM = { WECOM_BOT_TOKEN: token, WECOM_BOT_AES_KEY: aesKey, WECOM_BOT_NAME: 'Parley' };
const makeWecom = (count) => makeDeliveries({ token, aesKey, count });

/** Measures all candidates in turn, round by round, so that drift of the machine affects all alike. */
async function compare(subjects) {
  const samples = new Map(
    subjects.map(({ name }) => [name, { alone: [], perSecond: [], cpuUs: [], redisUs: [], busy: [], atRate: [] }]),
  );
  for (const { url, deliver } of subjects) await sendMany(url, deliver(WARM_UP));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { name, url, deliver, pid, redisPid, settle } of subjects) {
      const taken = samples.get(name);
      const deliveries = {
        once: deliver(AT_ONCE),
        alone: deliver(ALONE),
        rate: deliver(AT_RATE.perSecond * AT_RATE.seconds),
      };
      await settle?.();
      const [startedMs, beforeMs] = [performance.now(), computedMs(pid)];
      const redisBeforeMs = computedMs(redisPid);
      taken.perSecond.push(await sendMany(url, deliveries.once));
      taken.busy.push((computedMs(pid) - beforeMs) / (performance.now() - startedMs));
      taken.cpuUs.push(((computedMs(pid) - beforeMs) * 1_000) / AT_ONCE);
      taken.redisUs.push(((computedMs(redisPid) - redisBeforeMs) * 1_000) / AT_ONCE);
      await settle?.();
      taken.alone.push(median(await sendInTurn(url, deliveries.alone)));
      taken.atRate.push(await sendAtRate(url, deliveries.rate, AT_RATE));
    }
  }
  return samples;
}

/**
 * `acksRatio` compares rates, which depend on the load of the machine. `cpuRatio` compares the CPU time per message (floor
 * divided by ours, as messages per core), which is more stable. `redisRatio` is the CPU time of Redis per message divided by
 * that of the floor.
 */
function describe(name, samples) {
  const [own, base] = [samples.get(name), samples.get('L3')];
  const at = ({ atRate }, share) => median(atRate.map((times) => percentile(times, share)));
  return {
    case: `accept, ${name}`,
    acksPerSecond: Math.round(median(own.perSecond)),
    acksRatio: rounded(median(own.perSecond) / median(base.perSecond)),
    busy: rounded(median(own.busy)),
    cpuUs: Math.round(median(own.cpuUs)),
    cpuRatio: rounded(median(base.cpuUs) / median(own.cpuUs)),
    redisUs: Math.round(median(own.redisUs)),
    redisRatio: rounded(median(own.redisUs) / median(base.redisUs)),
    aloneMs: rounded(median(own.alone), 3),
    aloneRatio: rounded(median(own.alone) / median(base.alone)),
    p50MsAt200: rounded(at(own, 0.5)),
    p99MsAt200: rounded(at(own, 0.99)),
    p999MsAt200: rounded(at(own, 0.999)),
    p99Ratio: rounded(at(own, 0.99) / at(base, 0.99)),
  };
}

/** Cost of accepting a message, compared with floors that any such bot pays, in the same run. */
export async function benchAccept(report) {
  const model = await startModelStandIn();
  const slack = await startSlackStandIn(() => undefined);
  const ends = [() => model.stop(), () => slack.stop()];
  const startRedis = async () => {
    const redis = await startEmbeddedRedis();
    ends.push(() => redis.stop());
    return redis;
  };
  const start = async (args, env) => {
    const running = await startMeasured(args, env);
    ends.push(() => running.stop());
    return running.pid;
  };
  const startFloor = async (name) => {
    const [port, redis] = [await freePort(), await startRedis()];
    const env = { FLOOR: name, PORT: String(port), REDIS_URL: redis.url, SIGNING_SECRET };
    const pid = await start(['bench/floors.mjs'], env);
    return { name, url: `http://127.0.0.1:${port}/`, deliver: makeSlackEvents, pid, redisPid: redis.pid };
  };
  const startParley = async (name, { roles, platform, env, deliver }, build = BUILDS[0]) => {
    const [port, redis] = [await freePort(), await startRedis()];
    const settings = parleyEnv({
      redisUrl: redis.url,
      chatUrl: model.url,
      port,
      roles,
      platform: { ...env, ...build.settings },
    });
    const pid = await start(parleyArgs(build), settings);
    const url = `http://127.0.0.1:${port}/webhooks/${platform}`;
    return { name: name + build.suffix, url, deliver, pid, redisUrl: redis.url, redisPid: redis.pid };
  };
  const slackSide = { platform: 'slack', env: slackEnv(slack.url), deliver: makeSlackEvents };
  const wecomSide = { platform: 'wecom', env: WECOM, deliver: makeWecom };
  try {
    const subjects = [];
    for (const floor of SCENES.includes('floors') ? ['L1', 'L2', 'L3'] : ['L3']) subjects.push(await startFloor(floor));
    for (const build of BUILDS) {
      if (SCENES.includes('slack'))
        subjects.push(await startParley('Slack, receiver alone', { roles: 'receiver', ...slackSide }, build));
      if (SCENES.includes('wecom'))
        subjects.push(await startParley('WeCom, receiver alone', { roles: 'receiver', ...wecomSide }, build));
    }
    const both =
      SCENES.includes('both') &&
      (await startParley('Slack, receiver and worker in one', { roles: 'receiver,worker', ...slackSide }));
    if (both) subjects.push({ ...both, settle: () => untilAnswered(both.redisUrl) });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    if (both)
      report({ case: 'memory, receiver and worker in one process, idle', mib: memoryMib(both.pid), targetMib: 160 });
    const samples = await compare(subjects);
    for (const { name } of subjects) report(describe(name, samples));
    const receiver = subjects.find(({ name }) => name === 'Slack, receiver alone');
    if (receiver) {
      const { names, ...counts } = await countCommands(receiver.redisUrl, async () => {
        await sendInTurn(receiver.url, makeSlackEvents(COUNTED));
        return COUNTED;
      });
      const of = 'accept, Redis commands a message, Slack, receiver alone';
      report({ case: of, ...counts, names: JSON.stringify(names) });
    }
    if (both) report({ case: 'memory, receiver and worker in one process, after the load', mib: memoryMib(both.pid) });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}
