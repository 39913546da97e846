import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import Koa from 'koa';
import { inBackground } from '../base/in-background.ts';
import type { NowMs } from '../base/clock.ts';
import { listen } from '../base/http-server.ts';
import { KeyRing } from '../base/key-ring.ts';
import type { Log } from '../base/log.ts';
import type { RedisClient } from '../base/redis.ts';
import { SharedLimits } from './chat/shared-limits.ts';
import { createBuiltInEngine } from './built-in/built-in-engine.ts';
import type { ChatEngine } from './chat/chat-engine.ts';
import { chatRoutes } from './chat/chat-routes.ts';
import { DEFAULT_CHAT_LIMITS, type ChatLimits } from './chat/key-limits.ts';
import type { ModelCatalog } from '../models/model-catalog.ts';
import type { ServiceClient } from './clients-file.ts';
import type { ServicePerson } from './directory-file.ts';
import { answersInTime, healthRoutes } from './health-routes.ts';
import { createServiceReport, type ServiceReport } from './service-report.ts';
import { browserRoutes } from './sign-in/browser-routes.ts';
import { createSignInParts, type Institution } from './sign-in/create-sign-in-parts.ts';
import type { LoginLimits } from './sign-in/login-throttle.ts';
import type { MakeMessagingApp } from './sign-in/methods/redirect-sign-in.ts';
import { tokenRoutes } from './sign-in/token-routes.ts';
import type { UpstreamOptions } from './upstream/engine-call.ts';
import { createPassThrough } from './upstream/pass-through.ts';
import { createUpstreamEngine } from './upstream/upstream-engine.ts';

export interface ServiceOptions {
  /** 0 takes a free one. */
  port: number;
  host: string;
  /** How browsers reach the service; the listening address unless told. */
  publicUrl?: string;
  /** Holds codes, tokens, sessions and consents. Each use is given up after 1.5 s, then pages answer 503. */
  redis: RedisClient;
  /** Seals forms, round trips and people; made at random unless told, then a restart ends what was begun. */
  keyRing?: KeyRing;
  /** The keys that the chat interface accepts. */
  apiKeys: readonly string[];
  /** What is served under which names. */
  models: ModelCatalog;
  clients: readonly ServiceClient[];
  directory: readonly ServicePerson[];
  /** An OpenAI-compatible engine; the built-in model answers without it. */
  upstream?: UpstreamOptions;
  /** Messaging apps inside which the app's own web sign-in counts; elsewhere, and without any, people choose. */
  messagingApps?: readonly MakeMessagingApp[];
  /** The institution's unified identity, besides the directory or instead of it. */
  institution?: Institution;
  accessTokenSec: number;
  refreshTokenSec: number;
  nowMs: NowMs;
  log: Log;
  /** How many proxies in front set `X-Forwarded-For`. Default 0: the socket's address counts. */
  trustedProxyHops?: number;
  /** What `/metrics` shows; that address does not exist without it. */
  metrics?: () => Promise<{ contentType: string; text: string }>;
  /** What `/healthz?nonce=` answers, so that a check of the settings knows whom it reached. */
  prove?: (nonce: string) => string;
  /** The folder that holds README.md and docs/, which the built-in model answers from. */
  docsDir: string;
  /** Pace of the built-in model. Default 30 tokens a second. */
  builtInPace?: { tokensPerSec: number };
  /** Whether people type the bot's words without a slash in the app beside it (Slack). */
  bareWords?: boolean;
  /** Limits of each API key. Default 200 requests in 10 seconds, 20 at once. */
  chatLimits?: ChatLimits;
  /** Limits of wrong passwords. Default 1,000 of an address in ten minutes. */
  loginLimits?: LoginLimits;
}

export interface RunningService {
  /** `http://HOST:PORT` */
  readonly url: string;
  readonly port: number;
  /** New chat requests get 503 at once; open answers have `graceMs` to end. */
  close(graceMs?: number): Promise<void>;
  /** Serves other clients, people and models from the next request on; what is under way keeps what it began with. */
  change(next: Changeable): void;
  /** Whether Redis answers within a second and the service is not stopping. */
  isReady(): Promise<boolean>;
}

/** What files say that may be changed while the service runs. */
export type Changeable = Pick<ServiceOptions, 'models' | 'clients' | 'directory' | 'institution'>;

const DEFAULT_TOKENS_PER_SEC = 30;

/** Starts the chat and sign-in service. What it shares with the bot is what both must know of models. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  let isStopping = false;
  const report = createServiceReport(options.log);
  const engine = createEngine(options, report);
  const passThrough = options.upstream && createPassThrough(options.upstream, report);
  // The same after a change of files: what was sealed before stays readable.
  const keyRing = options.keyRing ?? new KeyRing([randomBytes(32)]);
  const limits = options.chatLimits ?? DEFAULT_CHAT_LIMITS;
  const sharedLimits = new SharedLimits({ redis: options.redis, keyRing, limits, nowMs: options.nowMs });
  const readiness = async () =>
    isStopping ? 'stopping' : (await answersInTime(options.redis)) ? 'ready' : 'redis not ready';
  // The address is known only once the port is taken, and pages need the address.
  let handle: RequestListener = (_, response) => void response.writeHead(503).end();
  const server = await listen((request, response) => handle(request, response), options.port, options.host);
  const publicUrl = (options.publicUrl ?? server.url).replace(/\/+$/, '');
  const listenerOf = (served: ServiceOptions): RequestListener => {
    const app = new Koa({ proxy: (served.trustedProxyHops ?? 0) > 0, maxIpsCount: served.trustedProxyHops ?? 0 });
    app.on('error', (error: Error) => {
      // A client that leaves in the middle of an answer is everyday life.
      if (
        !/^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|ECANCELED|ABORT_ERR)$/.test(
          'code' in error ? String(error.code) : '',
        )
      )
        report.failed('chat', error);
    });
    const parts = createSignInParts({ ...served, keyRing }, publicUrl, report);
    const hasEngine = served.upstream !== undefined;
    app.use(healthRoutes(readiness, served.metrics, served.prove));
    app.use(
      chatRoutes({
        apiKeys: served.apiKeys,
        models: served.models,
        engine,
        passThrough,
        limits,
        sharedLimits,
        nowMs: served.nowMs,
        report,
        isStopping: () => isStopping,
      }),
    );
    app.use(
      tokenRoutes({
        clients: parts.clients,
        people: parts.people,
        grants: parts.grants,
        accessTokenSec: served.accessTokenSec,
        report,
      }),
    );
    app.use(browserRoutes({ parts, models: served.models.entries.map(({ name }) => name), hasEngine }));
    const answer = app.callback();
    return (request, response) => inBackground(() => answer(request, response));
  };
  handle = listenerOf(options);
  return {
    url: server.url,
    port: server.port,
    change: (next) => void (handle = listenerOf({ ...options, ...next })),
    isReady: async () => (await readiness()) === 'ready',
    async close(graceMs) {
      isStopping = true;
      await server.close(graceMs);
      sharedLimits.close();
      await engine.close();
      await passThrough?.close();
    },
  };
}

function createEngine(
  { upstream, docsDir, builtInPace, bareWords, nowMs }: ServiceOptions,
  report: ServiceReport,
): ChatEngine {
  if (upstream) return createUpstreamEngine(upstream, { nowMs, report });
  return createBuiltInEngine({
    docsDir,
    tokensPerSec: builtInPace?.tokensPerSec ?? DEFAULT_TOKENS_PER_SEC,
    bareWords,
    nowMs,
  });
}
