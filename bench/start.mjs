import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, startEmbeddedRedis } from '../dist-modules/bot/app/local/embedded-redis.js';
import { median, rounded } from './load.mjs';
import { computedMs, memoryMib, startMeasured } from './measured-process.mjs';
import { BUILDS, parleyArgs, parleyEnv, slackEnv } from './parley-env.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
/** Until the garbage of the start is collected and its last timers have run. */
const IDLE_MS = 10_000;
const NOWHERE = 'http://127.0.0.1:9';
const KINDS = ['receiver', 'worker', 'service', 'receiver,worker', 'local mode'];

/** Cost of a start until the process serves, and its memory when idle, for each role and for local mode. */
export async function benchStart(report) {
  const redis = await startEmbeddedRedis();
  const samples = new Map();
  try {
    for (let round = 0; round < ROUNDS; round += 1)
      for (const kind of KINDS)
        for (const build of BUILDS) {
          const name = `start, ${kind}${build.suffix}`;
          samples.set(name, [...(samples.get(name) ?? []), await startOnce(kind, build, redis.url)]);
        }
  } finally {
    await redis.stop();
  }
  for (const [name, runs] of samples) {
    const at = (what) => rounded(median(runs.map((run) => run[what])));
    report({ case: name, cpuMs: at('cpuMs'), wallMs: at('wallMs'), mib: at('mib') });
  }
}

async function startOnce(kind, build, redisUrl) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-start-'));
  const startedMs = performance.now();
  const running = await startMeasured(parleyArgs(build), await envOf(kind, redisUrl, folder), { isPinned: false });
  try {
    const wallMs = performance.now() - startedMs;
    const cpuMs = familyOf(running.pid).reduce((sum, pid) => sum + computedMs(pid), 0);
    await sleep(IDLE_MS);
    const mib = familyOf(running.pid).reduce((sum, pid) => sum + memoryMib(pid), 0);
    return { cpuMs, wallMs, mib };
  } finally {
    await running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The process and those that it started, as far as they are Node's too. */
function familyOf(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
  const programOf = (child) => readFileSync(`/proc/${child}/cmdline`, 'latin1').split('\0')[0];
  return [pid, ...children.filter((child) => programOf(child).endsWith('node')).flatMap(familyOf)];
}

async function envOf(kind, redisUrl, folder) {
  const port = await freePort();
  if (kind === 'local mode') {
    const [service, messenger] = [await freePort(), await freePort()];
    const ports = { PORT: String(port), SERVICE_PORT: String(service), MESSENGER_PORT: String(messenger) };
    return { NODE_ENV: 'development', DATA_DIR: folder, ...ports };
  }
  const platform = kind === 'service' ? { SERVICE_API_KEYS: 'sk-bench-0123456789' } : slackEnv(NOWHERE);
  return { ...parleyEnv({ redisUrl, chatUrl: `${NOWHERE}/v1`, port, roles: kind, platform }), DATA_DIR: folder };
}
