import { freePort, startEmbeddedRedis } from '../dist-modules/bot/app/local/embedded-redis.js';
import { createConversations } from './conversations.mjs';
import { median } from './load.mjs';
import { computedMs, memoryMib, startMeasured } from './measured-process.mjs';
import { startModelStandIn } from './model-stand-in.mjs';
import { BUILDS, parleyArgs, parleyEnv, slackEnv } from './parley-env.mjs';
import { untilAnswered } from './redis-watch.mjs';
import { makeSlackEvents, SIGNING_SECRET } from './slack-events.mjs';
import { startSlackStandIn } from './slack-stand-in.mjs';

/** Runs a task with a model, a Slack and what starts measured subjects, and ends all of them. */
export async function withSubjects(work) {
  const conversations = createConversations();
  const model = await startModelStandIn(conversations.heard);
  const slack = await startSlackStandIn(conversations.heard);
  const ends = [() => model.stop(), () => slack.stop()];
  const startRedis = async () => {
    const redis = await startEmbeddedRedis();
    ends.push(() => redis.stop());
    return { url: redis.url, pids: [redis.pid] };
  };
  /** Starts the processes of a subject, which share a Redis of their own. Events go to the first of them. */
  const start = async (name, processes, redis) => {
    redis ??= await startRedis();
    const pids = [];
    let url;
    for (const { args, path, envOf } of processes) {
      const port = await freePort();
      const running = await startMeasured(args, envOf({ port, redisUrl: redis.url }));
      ends.push(() => running.stop());
      pids.push(running.pid);
      url ??= `http://127.0.0.1:${port}${path}`;
    }
    return { name, url, pids, redisUrl: redis.url, redisPids: redis.pids };
  };
  const floor = (name) => ({
    args: ['bench/floors.mjs'],
    path: '/',
    envOf: ({ port, redisUrl }) => ({
      FLOOR: name,
      PORT: String(port),
      REDIS_URL: redisUrl,
      SIGNING_SECRET,
      MODEL_URL: model.url,
      SLACK_URL: slack.url,
    }),
  });
  const parley = (roles, { build = BUILDS[0], settings = {} } = {}) => ({
    args: parleyArgs(build),
    path: '/webhooks/slack',
    envOf: ({ port, redisUrl }) => {
      const platform = { ...slackEnv(slack.url), WORKER_CONCURRENCY: '2500', ...build.settings, ...settings };
      return parleyEnv({ redisUrl, port, roles, chatUrl: model.url, platform });
    },
  });
  try {
    return await work({ conversations, model, slack, ends, startRedis, start, floor, parley });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

export const computed = ({ pids }) => pids.reduce((sum, pid) => sum + computedMs(pid), 0);
export const redisComputed = ({ redisPids }) => redisPids.reduce((sum, pid) => sum + computedMs(pid), 0);
export const memory = ({ pids }) => pids.reduce((sum, pid) => sum + memoryMib(pid), 0);

/** Measures all candidates in turn, round by round, so that drift of the machine affects all alike. */
export async function inTurn({ rounds, subjects }, measure) {
  const samples = new Map(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const subject of subjects) samples.get(subject.name).push(await measure(subject));
  return (name, pick) => median(samples.get(name).map(pick));
}

/** One flood, per conversation. `events` defaults to conversations that are all new. */
export async function floodOnce({ conversations, model, subject, pace, count, atOnce, events }) {
  model.pace = pace;
  const sent = events ?? makeSlackEvents(count);
  const [beforeMs, redisBeforeMs, bytesBefore] = [computed(subject), redisComputed(subject), model.bytes];
  const startedMs = performance.now();
  const seen = await conversations.run(subject.url, sent, atOnce);
  const tookMs = performance.now() - startedMs;
  await untilAnswered(subject.redisUrl);
  const cpuMs = computed(subject) - beforeMs;
  return {
    seen,
    perSecond: (sent.length / tookMs) * 1_000,
    cpuMs: cpuMs / sent.length,
    redisCpuMs: (redisComputed(subject) - redisBeforeMs) / sent.length,
    promptBytes: (model.bytes - bytesBefore) / sent.length,
    busy: cpuMs / tookMs,
  };
}
