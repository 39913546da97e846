import Koa from 'koa';
import { Registry } from 'prom-client';
import { inBackground } from '../../shared/in-background.ts';
import { healthRoutes, type HealthPart } from '../metrics/health.ts';
import { ConfigFileState } from '../metrics/config-file-state.ts';
import { createReport } from '../metrics/metrics.ts';
import { watchRedisSafety } from '../metrics/redis-safety.ts';
import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import type { LocalWorker } from './local-worker.ts';
import { listen, type ListeningServer } from '../../shared/http/http-server.ts';
import type { Log } from '../../shared/log.ts';
import { isForeignHost, refuseForeignHost } from '../../shared/http/public-host.ts';
import { RecentChanges } from '../identity/links/recent-changes.ts';
import type { Receiver } from './bot.ts';
import type { Group } from '../../simulator/directory.ts';
import type { MessengerDriver } from '../../simulator/driver.ts';
import type { LocalMode } from './local/local-mode.ts';
import type { MessengerPart } from './messenger.ts';
import { proofOfConfiguration } from './configuration-proof.ts';
import { needsLocalParts } from './local/needs-local-parts.ts';
import type { Config, Role, Secrets } from '../config/config.ts';
import type { EgressPolicy } from '../../shared/web/egress-policy.ts';
import { healthOfRedis } from './worker-health.ts';
import { workerHere, type WorkerSide } from './worker-host.ts';

export interface AppOptions {
  config: Config;
  secrets: Secrets;
  log: Log;
  nowMs?: NowMs;
  /** What the tool that reads pages may reach; the public web but in tests. */
  egress?: EgressPolicy;
  /** How long a platform may carry out a post that was given up; its own trait but in tests. Milliseconds. */
  postSettlesWithinMs?: number;
  /** What a worker in a process of its own runs; without it the worker runs in this one. */
  workerProgram?: URL;
  /** The messenger's groups; those of `config/groups.json` unless told. */
  groups?: readonly Group[];
  /** Called when the process must not go on (an unsafe Redis); the sentence names what to do. */
  onFatal(sentence: string): void;
}

/** A running Parley: what this process's roles need, started in order. */
export interface App {
  /** Where each part listens, in words for the person who started it. */
  readonly addresses: { name: string; url: string; openUrl?: string }[];
  /** The given secrets, with what local mode made. */
  readonly secrets: Secrets;
  /** The key that was made for the embedded chat service, to be shown once at start. */
  readonly madeApiKey: string | undefined;
  /** What people do in the messenger, where this process runs one. */
  readonly driver: MessengerDriver | undefined;
  /** How many answers are under way. */
  runningAnswers(): Promise<number>;
  /** Reads the files of `config/` anew, all or none. @throws ConfigFileError, and then all stays as it was */
  reread(): Promise<void>;
  /** The files on disk were rejected for this many faults: metrics and `/readyz` say so until the next `reread`. */
  filesRejected(faults: number): void;
  /** Orderly stop within `SHUTDOWN_GRACE_SEC` (SECURITY.md orderly-stop). */
  close(): Promise<void>;
}

type Step = () => Promise<void>;

/** Reads a part's files; what it returns takes them over, and cannot fail. */
type Rereading = () => Promise<() => void> | (() => void);

/**
 * The composition root: builds everything by hand, starts it, and stops it in the opposite order. When a part cannot
 * start, what was started before is stopped, and the error goes on.
 */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, log, nowMs = Date.now } = options;
  const endings: Step[] = [];
  const addresses: App['addresses'] = [];
  const rereadings: Rereading[] = [];
  try {
    const local = await startLocal(options, endings);
    const secrets = local?.secrets ?? options.secrets;
    const registry = new Registry();
    const { egress, postSettlesWithinMs } = options;
    const report = createReport(registry, log);
    const files = new ConfigFileState(registry);
    const recentLinks = new RecentChanges();
    const bot = { config, secrets, nowMs, egress, postSettlesWithinMs, recentLinks, log, report };
    const has = (role: Role) => config.roles.includes(role);
    const { answer: prove } = proofOfConfiguration(config, secrets);

    const apart = options.workerProgram && has('worker') ? startApart(options.workerProgram, bot, endings) : undefined;
    // Each part is loaded only where a role needs it: a start takes half the time then, and memory a fifth less.
    if (has('service')) {
      const { startServicePart } = await import('./service.ts');
      const service = await startServicePart({
        ...{ config, secrets, clients: local?.clients, prove, registry, files, nowMs, log },
      });
      endings.push(() => service.close());
      rereadings.push(() => service.reread());
      addresses.push({ name: 'service', url: service.url });
    }
    let worker: WorkerSide | undefined;
    let messenger: MessengerPart | undefined;
    let wereAnswering = false;
    if (has('receiver') || has('worker')) {
      const { createReceiver, createWorkerPart } = await import('./bot.ts');
      const receiver = has('receiver') ? createReceiver(bot) : undefined;
      const workerPart = has('worker') && !apart ? createWorkerPart(bot) : undefined;
      if (receiver) rereadings.push(() => receiver.reread());
      if (workerPart) rereadings.push(() => workerPart.reread());
      worker = workerPart ? workerHere(workerPart) : (await apart)?.side;
      const front = await startFront({ config, log, registry, prove, files, receiver, worker });
      receiver?.connect();
      const running = { config, receiver, worker, front };
      endings.push(() => closeDoor(running));
      // In between, so that people see the answers under way to their end.
      endings.push(async () => messenger?.close(wereAnswering));
      endings.push(async () => {
        messenger?.tellStop();
        wereAnswering = await endTurns(running);
      });
      addresses.push({ name: 'bot', url: front.server.url });
      const redis = receiver?.redis ?? workerPart?.redis;
      if (redis && !config.embedded.redis)
        watchRedisSafety(redis, { isLossAllowed: config.redis.allowDataLoss, log, onUnsafe: options.onFatal });
    }
    if (has('messenger')) {
      const { startMessengerPart } = await import('./messenger.ts');
      const { controls } = (await apart) ?? {};
      messenger = await startMessengerPart({ config, secrets, controls, groups: options.groups, nowMs, log });
      if (!has('receiver') && !has('worker')) endings.push(async () => messenger?.close(false));
      const { printed: url, forOnce: openUrl } = messenger.page;
      addresses.push({ name: 'messenger', url, openUrl });
    }
    return {
      addresses,
      secrets,
      driver: messenger?.driver,
      madeApiKey: has('service') ? local?.madeApiKey : undefined,
      runningAnswers: async () => worker?.runningAnswers() ?? 0,
      async reread() {
        const takings = [];
        for (const read of rereadings) takings.push(await read());
        for (const takeOver of takings) takeOver();
        files.reread(0);
      },
      filesRejected: (faults) => files.reread(faults),
      close: () => runBackwards(endings),
    };
  } catch (error) {
    await runBackwards(endings);
    throw error;
  }
}

async function startLocal(
  { config, secrets, log, onFatal }: AppOptions,
  endings: Step[],
): Promise<LocalMode | undefined> {
  if (!needsLocalParts(config, secrets)) return undefined;
  const { prepareLocalMode } = await import('./local/local-mode.ts');
  const local = await prepareLocalMode(config, secrets, { log, onGone: onFatal });
  endings.push(() => local.stop());
  return local;
}

/** Begun before all else, since it comes up beside it. */
function startApart(
  program: URL,
  parts: { config: Config; secrets: Secrets; log: Log },
  endings: Step[],
): Promise<LocalWorker> {
  const starting = import('./local-worker.ts').then((room) => room.startLocalWorker({ program, ...parts }));
  // Whoever waits for it is told; until then it may fail unheard.
  starting.catch(() => undefined);
  // By then the bot's own stop has ended it in order, unless the start came to nothing.
  endings.push(async () => (await starting.catch(() => undefined))?.side.close(0));
  return starting;
}

interface FrontOptions {
  config: Config;
  log: Log;
  registry: Registry;
  prove(nonce: string): string;
  files: ConfigFileState;
  receiver: Receiver | undefined;
  worker: WorkerSide | undefined;
}

interface Front {
  server: ListeningServer;
  /** From now on `/readyz` says no. */
  retire(): void;
}

/** The bot's HTTP: every process serves health and metrics, a receiver the webhooks and the sign-in pages too. */
async function startFront({ config, log, registry, prove, files, receiver, worker }: FrontOptions): Promise<Front> {
  let isRetired = false;
  const parts: HealthPart[] = [
    { name: 'process', isReady: async () => !isRetired },
    files.part,
    ...(receiver ? [healthOfRedis('redis', receiver.redis), ...receiver.parts] : []),
    ...(worker?.parts ?? []),
  ];
  const koa = new Koa();
  koa.silent = true;
  koa.on('error', (error: Error) => log.error({ error }, 'a request failed'));
  for (const router of [
    healthRoutes({ parts, registry, otherMetrics: async () => worker?.metrics() ?? [], prove }),
    ...(receiver?.routes ?? []),
  ]) {
    koa.use(router.routes()).use(router.allowedMethods());
  }
  const handler = koa.callback();
  const server = await listen(
    (request, response) => {
      if (receiver?.serveWebhook(request, response) === true) return;
      if (config.mode === 'local' && isForeignHost(request, config.http.publicUrl))
        refuseForeignHost(response, config.http.publicUrl);
      else inBackground(() => handler(request, response));
    },
    config.http.port,
    config.http.host,
  );
  return { server, retire: () => (isRetired = true) };
}

interface RunningBot {
  config: Config;
  receiver: Receiver | undefined;
  worker: WorkerSide | undefined;
  front: Front;
}

/**
 * Readiness goes first, so that no new work is sent here. Polls are still answered while turns end: on a platform that
 * pulls, an answer that nobody can poll is not visible. Then the door closes.
 * @returns whether answers were under way
 */
async function endTurns({ config, worker, front }: RunningBot): Promise<boolean> {
  front.retire();
  const answers = (await worker?.runningAnswers().catch(() => 0)) ?? 0;
  await worker?.close(config.http.shutdownGraceSec);
  return answers > 0;
}

async function closeDoor({ receiver, front }: RunningBot): Promise<void> {
  await front.server.close(SECOND_MS);
  await receiver?.close();
}

async function runBackwards(endings: Step[]): Promise<void> {
  for (const end of endings.splice(0).reverse()) await end();
}
