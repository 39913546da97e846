import type Router from '@koa/router';
import { createAmendAnswered } from './amend-answered.ts';
import { inBackground } from '../../shared/in-background.ts';
import { DAY_MS } from '../../shared/clock.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { createBase, type BotOptions } from './base.ts';
import type { Platform } from '../platforms/platform.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import { readGreetings, type GreetingParts } from './greeting.ts';
import { Inbox } from '../queue/accept.ts';
import { replayAfterFailover } from '../queue/replay-after-failover.ts';
import { ReplayBuffer } from '../queue/replay-buffer.ts';
import { startShardReports } from '../queue/shard-registry.ts';
import type { AdminRoutes } from '../admin/admin-routes.ts';
import type { Config } from '../config/config.ts';
import type { HealthPart } from '../metrics/health.ts';
import { healthOfConnections } from '../ingress/connection-health.ts';
import { openConnections, type Connections, type ConnectionsOptions } from '../ingress/connections.ts';
import { createHandleDelivery } from '../ingress/handle-delivery.ts';
import { installRoutes } from '../ingress/install-routes.ts';
import { webhookRoutes, type ServeWebhook } from '../ingress/webhook-routes.ts';
import { createSignIn, watchForLostLinks } from './sign-in.ts';
import { storeFeedback } from '../reply/feedback/keep-feedback.ts';
import type { InboundMessage } from '../domain/message.ts';
import { readCodes } from '../identity/typed-code/read-codes.ts';
import { textOfMessage } from '../turn/prompt/question.ts';
import { keepUndeliverable } from '../reply/follow-ups/keep-undeliverable.ts';

export interface Receiver {
  serveWebhook: ServeWebhook;
  /** The sign-in pages. */
  routes: Router[];
  /** The admin page, if `ADMIN_IDS` is set. */
  adminRoutes(): Promise<AdminRoutes | undefined>;
  /** Its connections in `/readyz`. */
  parts: HealthPart[];
  redis: RedisClient;
  platforms: ReadonlyMap<PlatformName, Platform>;
  /** Opens the connections over which platforms deliver. Call it once everything else is ready. */
  connect(): void;
  /** Reads the suggested questions and scenes again. @returns a function that applies them. @throws ConfigFileError */
  reread(): () => void;
  close(): Promise<void>;
}

/** Accepts deliveries, answers polls and serves the sign-in pages. Its store fails fast, because platforms retry. */
export function createReceiver(options: BotOptions & Pick<GreetingParts, 'pageLanguageOf'>): Receiver {
  const { config, nowMs, log, report, pageLanguageOf } = options;
  const base = createBase(options, 'fail-fast');
  const { redis, keyRing, platforms, wakeQueue, listedModels } = base;
  const { feedbackTtlDays, keepsFeedbackText: keepsWords } = config.conversation;
  const identity = createSignIn(options, base);
  const isUnmergeable = config.signIn.proofs.includes('typed-code') ? holdsCodeOf(config) : undefined;
  const recent = new ReplayBuffer({ onReducedToId: () => report.messageReducedToId() });
  const inbox = new Inbox({ redis, keyRing, recent, isUnmergeable, limits: config.queue });
  const endShardReports = startShardReports(redis, config.queue.shards);
  const endFailoverWatch = replayAfterFailover({ redis, inbox, recent, wakeQueue, log, report });
  const endLinkWatch = watchForLostLinks(base, identity, log);
  const chats = { redis, keyRing, groupScope: config.conversation.groupScope };
  const served = [...platforms.values()];
  const greetings = { redis, keyRing, identity, pageLanguageOf };
  let greeting = readGreetings(config, greetings);
  let connections: Connections | undefined;
  const handle = createHandleDelivery({
    onAccepted(platform, accepted) {
      if (!hasAttachments(accepted.message)) return;
      // Loaded with the first attachment: many receivers never get one. Without it the turn fetches the attachment itself.
      inBackground(async () => {
        const { prefetchAttachments } = await import('./prefetch-attachments.ts');
        await prefetchAttachments({ redis, keyRing, identity, platform }, accepted);
      });
    },
    greeting: (platform, to) => greeting(platform, to),
    amendAnswered: createAmendAnswered(chats),
    keepFeedback: (rating) => storeFeedback({ redis, keyRing, lifeMs: feedbackTtlDays * DAY_MS, keepsWords }, rating),
    ...chats,
    inbox,
    wakeQueue,
    nowMs,
    log,
    report,
  });
  const keepAnswer: ConnectionsOptions['keepAnswer'] = (...answer) =>
    keepUndeliverable({ ...chats, report }, ...answer);
  return {
    serveWebhook: webhookRoutes({
      ...{ platforms: served.filter(({ connect }) => !connect), handle, log, report },
      helpUrl: config.signIn.helpUrl,
    }),
    routes: [installRoutes(served, log), ...(identity ? [identity.routes()] : [])],
    async adminRoutes() {
      if (config.adminIds.length === 0 || !identity) return undefined;
      // Loaded only where it is used.
      const { createAdminPage } = await import('./admin-page.ts');
      return createAdminPage({
        config,
        secrets: options.secrets,
        listedModels,
        identity,
        redis,
        keyRing,
        wakeQueue,
        nowMs,
        log,
      });
    },
    parts: healthOfConnections(served, (platform) => connections?.lastChange(platform)),
    redis,
    platforms,
    connect: () => (connections = openConnections({ platforms: served, handle, log, report, keepAnswer })),
    reread() {
      const next = readGreetings(config, greetings);
      return () => (greeting = next);
    },
    async close() {
      await connections?.close();
      endFailoverWatch();
      endLinkWatch();
      await endShardReports();
      listedModels.close();
      await wakeQueue.close();
      redis.disconnect();
    },
  };
}

/**
 * A message with a sign-in code is handled separately and never merged with a question. On a platform with another proof, text
 * that looks like a code is an ordinary message.
 */
function holdsCodeOf({ signIn: { proofs, proofsBy } }: Config): (message: InboundMessage) => boolean {
  return (message) =>
    (proofsBy[message.platform] ?? proofs).includes('typed-code') && readCodes(textOfMessage(message)).length > 0;
}

function hasAttachments({ parts, quote = [] }: InboundMessage): boolean {
  return [...parts, ...quote].some(({ type }) => type !== 'text');
}
