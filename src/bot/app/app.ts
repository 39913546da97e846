import type { RequestListener } from 'node:http';
import type Router from '@koa/router';
import Koa from 'koa';
import { Registry } from 'prom-client';
import { inBackground } from '../../shared/in-background.ts';
import { healthRoutes, proofRoutes, type HealthPart } from '../metrics/health.ts';
import { ConfigFileState } from '../metrics/config-file-state.ts';
import { createReport } from '../metrics/metrics.ts';
import {
  registerHttpConnections,
  registerRedisMemory,
  registerRunningTurns,
  registerWaitingQuestions,
} from '../metrics/gauges.ts';
import { readRedisMemory } from '../metrics/redis-facts.ts';
import { watchRedisSafety } from '../metrics/redis-safety.ts';
import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import type { LocalWorker } from './local-worker.ts';
import { listen, type ListeningServer } from '../../shared/http/http-server.ts';
import type { Log } from '../../shared/log.ts';
import { isForeignHost, refuseForeignHost } from '../../shared/http/public-host.ts';
import { RecentChanges } from '../identity/links/recent-changes.ts';
import type { Receiver } from './receiver.ts';
import type { Group } from '../../simulator/directory.ts';
import type { MessengerDriver } from '../../simulator/driver.ts';
import type { LocalMode } from './local/local-mode.ts';
import type { MessengerPart } from './messenger.ts';
import { proofOfConfiguration } from './configuration-proof.ts';
import { needsLocalParts } from './local/needs-local-parts.ts';
import type { Config, Role, Secrets } from '../config/config.ts';
import type { BotOptions } from './base.ts';
import { startTracing } from './tracing.ts';
import { healthOfRedis } from './worker-health.ts';
import { inProcessWorker, type WorkerHost } from './worker-host.ts';

export interface AppOptions extends Pick<BotOptions, 'config' | 'secrets' | 'log' | 'egress' | 'postSettlesWithinMs'> {
  nowMs?: NowMs;
  /** Program of a separate worker process. Without it the worker runs in this process. */
  workerProgram?: URL;
  /** The messenger's groups. Defaults to those of the file in use. */
  groups?: readonly Group[];
  /** Called when the process must not continue (an unsafe Redis), with a sentence that says what to do. */
  onFatal(sentence: string): void;
}

/** A running Parley with the parts for this process's roles. */
export interface App {
  /** Where each part listens, for the person who started it. */
  readonly addresses: { name: string; url: string; openUrl?: string }[];
  /** The given secrets, with those that local mode generated. */
  readonly secrets: Secrets;
  /** The key that was generated for the embedded chat service, to show once at start. */
  readonly madeApiKey: string | undefined;
  /** Drives the messenger as its people would, if this process runs one. */
  readonly driver: MessengerDriver | undefined;
  /** Number of running answers. */
  runningAnswers(): Promise<number>;
  /** Reads the files of `config/` again, all or none. @throws ConfigFileError; nothing has changed then */
  reread(): Promise<void>;
  /**
   * Records that the files on disk were rejected for this many faults. Metrics and `/readyz` show it until the next
   * `reread`.
   */
  filesRejected(faults: number): void;
  /** Orderly stop within `SHUTDOWN_GRACE_SEC` (SECURITY.md orderly-stop). */
  close(): Promise<void>;
}

type Step = () => Promise<void>;

/** Reads a part's files. The returned function applies them and cannot fail. */
type Rereading = () => Promise<() => void> | (() => void);

/**
 * The composition root: creates all parts, starts them in order, and stops them in reverse order. If a part cannot start,
 * the parts before it are stopped and the error is thrown.
 */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, log, nowMs = Date.now } = options;
  const endings: Step[] = [];
  const addresses: App['addresses'] = [];
  const reloads: Rereading[] = [];
  try {
    endings.push(await startTracing(options));
    const local = await startLocal(options, endings);
    const secrets = local?.secrets ?? options.secrets;
    const registry = new Registry();
    const { egress, postSettlesWithinMs } = options;
    const report = createReport(registry, log);
    const files = new ConfigFileState(registry);
    const bot = { config, secrets, nowMs, egress, postSettlesWithinMs, recentLinks: new RecentChanges(), log, report };
    const has = (role: Role) => config.roles.includes(role);
    const { answer: prove } = proofOfConfiguration(config, secrets);
    const parts = { bot, registry, files, prove, onFatal: options.onFatal, endings, reloads };

    const apart =
      options.workerProgram && has('worker') ? startWorkerProcess(options.workerProgram, bot, endings) : undefined;
    // Each part is loaded only if a role needs it: that halves the start time and saves a fifth of the memory.
    if (has('service')) {
      const { startServicePart } = await import('./service.ts');
      const service = await startServicePart({
        ...{ config, secrets, clients: local?.clients, prove, registry, files, nowMs, log },
      });
      endings.push(() => service.close());
      reloads.push(() => service.reread());
      addresses.push({ name: 'service', url: service.url });
    }
    let messenger: MessengerPart | undefined;
    const running = has('receiver') || has('worker') ? await startBot(parts, apart, () => messenger) : undefined;
    if (running) addresses.push({ name: 'bot', url: running.front.server.url });
    if (has('messenger')) {
      const { startMessengerPart } = await import('./messenger.ts');
      const { controls } = (await apart) ?? {};
      messenger = await startMessengerPart({ config, secrets, controls, groups: options.groups, nowMs, log });
      if (!running) endings.push(async () => messenger?.close(false));
      const { printed: url, forOnce: openUrl } = messenger.page;
      addresses.push({ name: 'messenger', url, openUrl });
    }
    return {
      addresses,
      secrets,
      driver: messenger?.driver,
      madeApiKey: has('service') ? local?.madeApiKey : undefined,
      runningAnswers: async () => running?.worker?.runningAnswers() ?? 0,
      async reread() {
        const prepared = [];
        for (const read of reloads) prepared.push(await read());
        for (const takeOver of prepared) takeOver();
        files.reread(0);
      },
      filesRejected: (faults) => files.reread(faults),
      close: () => runInReverse(endings),
    };
  } catch (error) {
    await runInReverse(endings);
    throw error;
  }
}

interface BotParts extends Pick<AppOptions, 'onFatal'> {
  bot: BotOptions;
  registry: Registry;
  files: ConfigFileState;
  prove(nonce: string): string;
  endings: Step[];
  reloads: Rereading[];
}

/** Starts the receiver, the worker, or both, and the servers in front of them. */
async function startBot(
  { bot, registry, files, prove, onFatal, endings, reloads }: BotParts,
  apart: Promise<LocalWorker> | undefined,
  messenger: () => MessengerPart | undefined,
): Promise<RunningBot> {
  const { config, log } = bot;
  const has = (role: Role) => config.roles.includes(role);
  const pageLanguageOf = (userId: string) => messenger()?.driver.languageOf(userId);
  const receiver = has('receiver')
    ? (await import('./receiver.ts')).createReceiver({ ...bot, pageLanguageOf })
    : undefined;
  const workerPart = has('worker') && !apart ? (await import('./worker.ts')).createWorkerPart(bot) : undefined;
  if (receiver) reloads.push(() => receiver.reread());
  if (workerPart) {
    registerRunningTurns(registry, () => workerPart.worker.runningTurns);
    reloads.push(() => workerPart.reread());
  }
  const worker = workerPart ? inProcessWorker(workerPart) : (await apart)?.host;
  const front = await startFront({ config, log, registry, prove, files, receiver, worker });
  receiver?.connect();
  const running = { config, receiver, worker, front };
  let wereAnswering = false;
  endings.push(() => closeServers(running));
  // Closed after the turns and before the HTTP server, so that people can watch running answers finish.
  endings.push(async () => messenger()?.close(wereAnswering));
  endings.push(async () => {
    messenger()?.tellStop();
    wereAnswering = await endTurns(running);
  });
  const redis = receiver?.redis ?? workerPart?.redis;
  if (redis) {
    const { createCountWaiting } = await import('../queue/waiting-questions.ts');
    registerWaitingQuestions(registry, createCountWaiting(redis));
    registerRedisMemory(registry, () => readRedisMemory(redis));
  }
  if (redis && !config.embedded.redis)
    watchRedisSafety(redis, { isLossAllowed: config.redis.allowDataLoss, log, onUnsafe: onFatal });
  return running;
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

/** Started first, because it starts up in parallel with the rest. */
function startWorkerProcess(
  program: URL,
  parts: { config: Config; secrets: Secrets; log: Log },
  endings: Step[],
): Promise<LocalWorker> {
  const starting = import('./local-worker.ts').then((room) => room.startLocalWorker({ program, ...parts }));
  // The caller that awaits it gets the error; until then it must not be reported as unhandled.
  starting.catch(() => undefined);
  // The bot's own stop has already ended it in order, unless the start failed.
  endings.push(async () => (await starting.catch(() => undefined))?.host.close(0));
  return starting;
}

interface FrontOptions {
  config: Config;
  log: Log;
  registry: Registry;
  prove(nonce: string): string;
  files: ConfigFileState;
  receiver: Receiver | undefined;
  worker: WorkerHost | undefined;
}

interface Front {
  server: ListeningServer;
  /** For health and metrics, and for the admin page, where they have a port of their own. */
  others: ListeningServer[];
  /** From now on `/readyz` answers not ready. */
  retire(): void;
}

/**
 * The bot's HTTP servers: health and metrics in every process, on `METRICS_PORT` if it is set; webhooks, sign-in pages and the
 * admin page (on `ADMIN_PORT` if it is set) in a receiver.
 */
async function startFront({ config, log, registry, prove, files, receiver, worker }: FrontOptions): Promise<Front> {
  let isRetired = false;
  const parts: HealthPart[] = [
    { name: 'process', isReady: async () => !isRetired },
    files.part,
    ...(receiver ? [healthOfRedis('redis', receiver.redis), ...receiver.parts] : []),
    ...(worker?.parts ?? []),
  ];
  const { host, port, metricsPort, adminPort, publicUrl } = config.http;
  const health = healthRoutes({ parts, registry, otherMetrics: async () => worker?.metrics() ?? [], prove });
  const admin = await receiver?.adminRoutes();
  const own = [
    ...(metricsPort === undefined ? [health] : []),
    ...(admin ? [admin.callback, ...(adminPort === undefined ? [admin.pages] : [])] : []),
  ];
  const guarded = (handler: RequestListener): RequestListener =>
    config.mode !== 'local'
      ? handler
      : (request, response) => {
          if (isForeignHost(request, publicUrl)) refuseForeignHost(response, publicUrl);
          else handler(request, response);
        };
  const handler = guarded(serve([proofRoutes(prove), ...own, ...(receiver?.routes ?? [])], log));
  const others: ListeningServer[] = [];
  try {
    if (metricsPort !== undefined) others.push(await listen(serve([health], log), metricsPort, host));
    if (admin && adminPort !== undefined)
      others.push(await listen(guarded(serve([admin.pages], log)), adminPort, host));
    const server = await listen(
      (request, response) => {
        if (receiver?.serveWebhook(request, response) !== true) handler(request, response);
      },
      port,
      host,
    );
    registerHttpConnections(
      registry,
      [server, ...others].map((one) => one.server),
    );
    return { server, others, retire: () => (isRetired = true) };
  } catch (error) {
    await Promise.all(others.map((other) => other.close(0)));
    throw error;
  }
}

function serve(routers: readonly Router[], log: Log): RequestListener {
  const koa = new Koa();
  koa.silent = true;
  koa.on('error', (error: Error) => log.error({ error }, 'a request failed'));
  for (const router of routers) koa.use(router.routes()).use(router.allowedMethods());
  const handler = koa.callback();
  return (request, response) => inBackground(() => handler(request, response));
}

interface RunningBot {
  config: Config;
  receiver: Receiver | undefined;
  worker: WorkerHost | undefined;
  front: Front;
}

/**
 * Retires readiness first, so that no new work arrives. Polls are still answered while turns end: on a platform that polls,
 * an answer is visible only through polls. The server closes after that.
 * @returns whether answers were running
 */
async function endTurns({ config, worker, front }: RunningBot): Promise<boolean> {
  front.retire();
  const answers = (await worker?.runningAnswers().catch(() => 0)) ?? 0;
  await worker?.close(config.http.shutdownGraceSec);
  return answers > 0;
}

async function closeServers({ receiver, front }: RunningBot): Promise<void> {
  await front.server.close(SECOND_MS);
  await receiver?.close();
  await Promise.all(front.others.map((other) => other.close(SECOND_MS)));
}

async function runInReverse(endings: Step[]): Promise<void> {
  for (const end of endings.splice(0).reverse()) await end();
}
