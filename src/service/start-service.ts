import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import Koa from 'koa';
import { inBackground } from '../shared/in-background.ts';
import type { NowMs } from '../shared/clock.ts';
import { FILE_REQUEST_TIMEOUT_MS, listen } from '../shared/http/http-server.ts';
import { KeyRing } from '../shared/crypto/key-ring.ts';
import { isForeignHost, refuseForeignHost } from '../shared/http/public-host.ts';
import { SharedLimits } from './chat/shared-limits.ts';
import { SharedKeys } from './shared-keys.ts';
import { createBuiltInEngine } from './demo-model/built-in-engine.ts';
import type { ChatEngine } from './chat/chat-engine.ts';
import { chatRoutes } from './chat/chat-routes.ts';
import { DEFAULT_CHAT_LIMITS } from './chat/key-limits.ts';
import { answersInTime, healthRoutes } from './health-routes.ts';
import type { ServedFiles, ServiceEngine, ServiceOptions } from './service-options.ts';
import { createServiceReport, type ServiceReport } from './service-report.ts';
import { browserRoutes } from './oauth/browser-routes.ts';
import { createSignIn } from './oauth/create-sign-in.ts';
import { createPassThrough } from './upstream/pass-through.ts';
import { createUpstreamEngine } from './upstream/upstream-engine.ts';

export interface RunningService {
  /** `http://HOST:PORT` */
  readonly url: string;
  readonly port: number;
  /** New chat requests get 503 immediately; open answers have `graceMs` to finish. */
  close(graceMs?: number): Promise<void>;
  /** Applies new clients, people and models from the next request on; requests in progress keep the previous ones. */
  change(next: ServedFiles): void;
  /** Whether Redis answers within a second and the service is not stopping. */
  isReady(): Promise<boolean>;
}

const DEFAULT_TOKENS_PER_SEC = 30;
/** Error codes of a client disconnect. */
const LEFT = /^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|ECANCELED|ABORT_ERR)$/;

/** Starts the chat and sign-in service. It shares only the model definitions with the bot. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { address, chat, signIn, health = {}, redis, nowMs, log } = options;
  let isStopping = false;
  const report = createServiceReport(log);
  const engine = createEngine(options.engine, nowMs, report);
  const { upstream } = options.engine;
  const rules = upstream && {
    relayedFields: upstream.relayedFields ?? [],
    imageAddresses: upstream.imageAddresses ?? false,
  };
  const passThrough = upstream && createPassThrough(upstream, report);
  // Unchanged when files are reloaded, so that sealed values remain readable.
  const keyRing = options.keyRing ?? new KeyRing([randomBytes(32)]);
  const limits = chat.chatLimits ?? DEFAULT_CHAT_LIMITS;
  const sharedLimits = new SharedLimits({ redis, keyRing, limits, nowMs });
  const sharedKeys = new SharedKeys({
    ...{ redis, keyRing, nowMs },
    tell(processes, sentence) {
      health.tellForeignKeys?.(processes);
      report.keysCompared(sentence);
    },
  });
  const readiness = async () => {
    if (isStopping) return 'stopping';
    const [isThere] = await Promise.all([answersInTime(redis), sharedKeys.compare()]);
    return isThere ? 'ready' : 'redis not ready';
  };
  const remarks = () => ({ ...health.remarks?.(), keys: sharedKeys.sentence });
  // The address is known only after the port is bound, and pages need the address.
  let handle: RequestListener = (_, response) => void response.writeHead(503).end();
  const server = await listen(
    (request, response) => handle(request, response),
    address.port,
    address.host,
    FILE_REQUEST_TIMEOUT_MS,
  );
  const publicUrl = (address.publicUrl ?? server.url).replace(/(?<!\/)\/+$/, '');
  const { trustedProxyHops = 0, refusesForeignHosts = false } = address;
  const listenerOf = ({ models, ...files }: ServedFiles): RequestListener => {
    const app = new Koa({ proxy: trustedProxyHops > 0, maxIpsCount: trustedProxyHops });
    app.on('error', (error: Error) => {
      // A client that disconnects during an answer is normal.
      if (!LEFT.test('code' in error ? String(error.code) : '')) report.failed('chat', error);
    });
    const { addBrowserRoutes, tokenRoutes } = createSignIn({
      ...{ files, signIn, redis, keyRing },
      ...{ publicUrl, trustedProxyHops, nowMs, report },
    });
    app.use(healthRoutes(readiness, { ...health, remarks }));
    app.use(
      chatRoutes({
        ...{ apiKeys: chat.apiKeys, models, engine, passThrough, rules },
        ...{ limits, sharedLimits, nowMs, report, isStopping: () => isStopping },
      }),
    );
    app.use(tokenRoutes);
    const names = models.entries.map(({ name }) => name);
    const hasEngine = upstream !== undefined;
    app.use(
      browserRoutes({ addSignIn: addBrowserRoutes, publicUrl, trustedProxyHops, report, models: names, hasEngine }),
    );
    const answer = app.callback();
    return (request, response) => {
      if (refusesForeignHosts && isForeignHost(request, publicUrl)) refuseForeignHost(response, publicUrl);
      else inBackground(() => answer(request, response));
    };
  };
  handle = listenerOf(options.files);
  return {
    url: server.url,
    port: server.port,
    change: (next) => void (handle = listenerOf(next)),
    isReady: async () => (await readiness()) === 'ready',
    async close(graceMs) {
      isStopping = true;
      await server.close(graceMs);
      sharedLimits.close();
      await sharedKeys.close();
      await engine.close();
      await passThrough?.close();
    },
  };
}

function createEngine(
  { upstream, docsDir, builtInPace, bareWords }: ServiceEngine,
  nowMs: NowMs,
  report: ServiceReport,
): ChatEngine {
  if (upstream) return createUpstreamEngine(upstream, { nowMs, report });
  const tokensPerSec = builtInPace?.tokensPerSec ?? DEFAULT_TOKENS_PER_SEC;
  return createBuiltInEngine({ docsDir, tokensPerSec, bareWords, nowMs });
}
