import { setTimeout as pause } from 'node:timers/promises';
import { freePort, startEmbeddedRedis } from '../dist-modules/bot/app/local/embedded-redis.js';
import { startEngineStandIn } from './engine-stand-in.mjs';
import { median, percentile } from './load.mjs';
import { computedMs, memoryMib, startMeasured } from './measured-process.mjs';
import { createStreamClient, readAtOnce, readInTurn } from './relay-load.mjs';

const FLOOR = 'bare node:http + undici request, piped';
const OURS = 'service';
const ROUNDS = 5;
/** One stream alone: the latency that a person notices. */
const ALONE = { order: { chunks: 40, gapMs: 5 }, times: 12 };
/**
 * Few enough that the engine's timers do not coincide: otherwise the direct path would have to wait for them, and the relays
 * would seem to cost nothing.
 */
const AT_ONCE = { order: { chunks: 60, gapMs: 40 }, times: 10 };
/** Enough chunks for the JIT compiler to optimize the code, as in a service that has run for a while. */
const WARM_UP = { order: { chunks: 600, gapMs: 2 }, times: 20 };
const OPEN = { streams: 500, order: { chunks: 100_000, gapMs: 500 }, seconds: 12, targetMib: 150 };
const MAX_RATIO = 1.5;
const KEYS = Array.from({ length: 40 }, (_, index) => `sk-bench-${String(index).padStart(12, '0')}`);

function serviceEnv(redisUrl, engineUrl, port) {
  return {
    ROLES: 'service',
    PORT: String(port),
    HOST: '127.0.0.1',
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    REDIS_URL: redisUrl,
    SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
    SERVICE_API_KEYS: KEYS.join(','),
    SERVICE_UPSTREAM_URL: engineUrl,
    SERVICE_UPSTREAM_KEY: 'sk-engine-0123456789',
    SERVICE_UPSTREAM_MODELS: 'svc-max=engine-model',
    LOG_LEVEL: 'warn',
    LOG_FORMAT: 'json',
  };
}

/**
 * Measures all candidates in turn, round by round, so that drift of the machine affects all alike. The first round does not
 * count.
 */
async function measure(subjects, read) {
  const rounds = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const samples = {};
    for (const { name, client, pid } of subjects) {
      const beforeMs = pid === undefined ? 0 : computedMs(pid);
      const streams = await read(client);
      const computed = pid === undefined ? 0 : computedMs(pid) - beforeMs;
      const first = streams.map(({ firstMs }) => firstMs);
      const chunks = streams.flatMap(({ onTheWayMs }) => onTheWayMs);
      samples[name] = { first: spread(first), chunk: spread(chunks), computedMs: computed / streams.length };
    }
    if (round > 0) rounds.push(samples);
  }
  return rounds;
}

function spread(values) {
  return { medianMs: median(values), p99Ms: percentile(values, 0.99) };
}

/**
 * A relay's overhead is its time minus that of the direct path in the same round; the median of the rounds counts.
 * `computedRatio` compares the CPU time for the same streams, which depends less on other load of the machine than times do.
 */
function describeAdded(caseName, rounds) {
  const added = (name, what, which) =>
    median(rounds.map((samples) => samples[name][what][which] - samples.direct[what][which]));
  const row = { case: caseName, floor: FLOOR, target: MAX_RATIO };
  for (const what of ['first', 'chunk']) {
    for (const which of ['medianMs', 'p99Ms']) {
      const [own, base] = [added(OURS, what, which), added(FLOOR, what, which)];
      const name = `${what}${which === 'p99Ms' ? 'P99' : ''}`;
      row[`${name}AddedMs`] = Number(own.toFixed(3));
      row[`${name}FloorMs`] = Number(base.toFixed(3));
      row[`${name}Ratio`] = Number((own / base).toFixed(2));
    }
  }
  const computed = (name) => median(rounds.map((samples) => samples[name].computedMs));
  row.computedRatio = Number((computed(OURS) / computed(FLOOR)).toFixed(2));
  return row;
}

/** Peak memory while the streams were open. */
async function measureOpen(client, pid) {
  const left = new AbortController();
  const idleMib = memoryMib(pid);
  let failure;
  const streams = Array.from({ length: OPEN.streams }, () =>
    client.read(OPEN.order, left.signal).catch((error) => {
      if (!left.signal.aborted) failure = error;
    }),
  );
  let mostMib = 0;
  for (let second = 0; second < OPEN.seconds; second += 1) {
    await pause(1_000);
    mostMib = Math.max(mostMib, memoryMib(pid));
  }
  left.abort();
  await Promise.all(streams);
  if (failure) throw failure;
  return { idleMib, mostMib };
}

/** Overhead of the service's relay on the path from engine to client, compared with a minimal relay, in the same run. */
export async function benchRelay(report) {
  const redis = await startEmbeddedRedis();
  const engine = await startEngineStandIn();
  const processes = [];
  const clients = [];
  const connect = (url) => {
    const client = createStreamClient(url, KEYS);
    clients.push(client);
    return client;
  };
  try {
    const ports = { floor: await freePort(), service: await freePort() };
    const floor = await startMeasured(['bench/relay-floor.mjs'], {
      PORT: String(ports.floor),
      ENGINE_URL: engine.url,
    });
    processes.push(floor);
    const service = await startMeasured(['dist/main.js'], serviceEnv(redis.url, engine.url, ports.service));
    processes.push(service);
    const subjects = [
      { name: 'direct', client: connect(engine.url) },
      { name: FLOOR, client: connect(`http://127.0.0.1:${ports.floor}/v1`), pid: floor.pid },
      { name: OURS, client: connect(`http://127.0.0.1:${ports.service}/v1`), pid: service.pid },
    ];
    for (const { client } of subjects) await readAtOnce(client, WARM_UP.order, WARM_UP.times);
    const alone = await measure(subjects, (client) => readInTurn(client, ALONE.order, ALONE.times));
    report(describeAdded('relay, one stream alone', alone));
    const atOnce = await measure(subjects, (client) => readAtOnce(client, AT_ONCE.order, AT_ONCE.times));
    report(describeAdded(`relay, ${AT_ONCE.times} streams at once`, atOnce));
    for (const { name, client, pid } of subjects.slice(1)) {
      const memory = await measureOpen(client, pid);
      const target = name === OURS ? { targetMib: OPEN.targetMib } : {};
      report({ case: `memory, ${OPEN.streams} open streams, ${name}`, ...memory, ...target });
    }
  } finally {
    for (const client of clients) await client.close();
    for (const running of processes) await running.stop();
    await engine.stop();
    await redis.stop();
  }
}
