import type Router from '@koa/router';
import { createAmendAnswered } from './amend-answered.ts';
import { inBackground } from '../../shared/in-background.ts';
import { DAY_MS, MINUTE_MS } from '../../shared/clock.ts';
import { languageOfText, localize } from '../../shared/text/texts.ts';
import { REPLY_TEXTS } from '../i18n/reply-texts.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { createBase, type BotOptions } from './base.ts';
import { conversationOf, type GroupScope, personIdOf } from '../domain/conversation.ts';
import type { Platform, ConnectionChange } from '../platforms/platform.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import { readGreetings, type GreetingParts } from './greeting.ts';
import { Inbox } from '../queue/accept.ts';
import { replayAfterFailover } from '../queue/replay-after-failover.ts';
import { ReplayBuffer } from '../queue/replay-buffer.ts';
import { startShardReports } from '../queue/shard-registry.ts';
import type { AdminRoutes } from '../admin/admin-routes.ts';
import type { Config } from '../config/config.ts';
import type { HealthPart } from '../metrics/health.ts';
import { openConnections, type Connections } from '../ingress/connections.ts';
import { createHandleDelivery } from '../ingress/handle-delivery.ts';
import { installRoutes } from '../ingress/install-routes.ts';
import { webhookRoutes, type ServeWebhook } from '../ingress/webhook-routes.ts';
import { createSignIn, watchForLostLinks } from './sign-in.ts';
import { storeFeedback } from '../reply/feedback/keep-feedback.ts';
import type { InboundMessage, Refusal } from '../domain/message.ts';
import { readCodes } from '../identity/typed-code/read-codes.ts';
import { textOfMessage } from '../turn/prompt/question.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { DeliveryId } from '../domain/ids.ts';
import { storeDeferredMessage } from '../reply/follow-ups/deferred-messages.ts';
import type { ReplyReport } from '../reply/reply-report.ts';
import { asError } from '../../shared/coded-error.ts';
import type { Log } from '../../shared/log.ts';
import { tryAcquire } from '../../shared/redis/claim-once.ts';
import { platformForTenant } from '../platforms/of-tenant.ts';
import { refusalText } from '../reply/read-live-reply.ts';

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
  const { redis, keyRing, platforms, wakeQueue, listed } = base;
  const { feedbackTtlDays, keepsFeedbackText: keepsWords } = config.conversation;
  const identity = createSignIn(options, base);
  const isUnmergeable = config.signIn.proofs.includes('typed-code') ? holdsCodeOf(config) : undefined;
  const recent = new ReplayBuffer({ onReducedToId: () => report.messageReducedToId() });
  const inbox = new Inbox({ redis, keyRing, recent, isUnmergeable, limits: config.queue });
  const endSaying = startShardReports(redis, config.queue.shards);
  const endWatch = replayAfterFailover({ redis, inbox, recent, wakeQueue, log, report });
  const endLinkWatch = watchForLostLinks(base, identity, log);
  const { groupScope } = config.conversation;
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
    onRefused: createNotifyRefused({ redis, keyRing, log }),
    greeting: (platform, to) => greeting(platform, to),
    answered: {
      amendAnswered: createAmendAnswered({ redis, keyRing, groupScope }),
      keepFeedback: (rating) => storeFeedback({ redis, keyRing, lifeMs: feedbackTtlDays * DAY_MS, keepsWords }, rating),
    },
    redis,
    keyRing,
    inbox,
    wakeQueue,
    groupScope,
    nowMs,
    log,
    report,
  });
  const keepAnswer = createKeepAnswer({ redis, keyRing, groupScope, report });
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
        listed,
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
      endWatch();
      endLinkWatch();
      endSaying();
      listed.close();
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

interface KeepAnswerOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  groupScope: GroupScope;
  report: Pick<ReplyReport, 'answerNotShown'>;
}

/**
 * Keeps an answer that the platform refused in every form for the person's next private reply, and reports it to the
 * operator. Safe to repeat.
 */
function createKeepAnswer({ redis, keyRing, groupScope, report }: KeepAnswerOptions) {
  return async (
    { name, tenant, app }: Platform,
    { replyId, userId, text }: { replyId: DeliveryId; userId: string; text: string },
  ): Promise<void> => {
    const chat = { kind: 'private' as const, id: userId };
    const conversation = conversationOf({ platform: name, tenant, app, chat, sender: { userId } }, groupScope);
    const heading = localize(REPLY_TEXTS.earlierAnswer, languageOfText(text));
    const deferred = { conversation, deliveryId: replyId, text: `${heading}\n\n${text}` };
    await storeDeferredMessage(redis, keyRing, deferred);
    report.answerNotShown({ platform: name, deliveryId: replyId });
  };
}

function hasAttachments({ parts, quote = [] }: InboundMessage): boolean {
  return [...parts, ...quote].some(({ type }) => type !== 'text');
}

/**
 * Tells a person, at most once a minute for each reason, that messages were refused. For platforms that do not show the HTTP
 * answer.
 */
export function createNotifyRefused({ redis, keyRing, log }: { redis: RedisClient; keyRing: KeyRing; log: Log }) {
  return (platform: Platform, message: InboundMessage, refusal: Refusal): void => {
    void (async () => {
      const person = keyRing.pseudonym('told-limited', personIdOf(message, message.sender.userId));
      if (await tryAcquire(redis, `{told}:${refusal}:${person}`, MINUTE_MS))
        await platformForTenant(platform, message.tenant)?.writePrivately?.(
          message.sender.userId,
          refusalText(refusal),
        );
    })().catch((thrown: unknown) =>
      log.debug({ error: asError(thrown) }, 'a person could not be notified of a refused message'),
    );
  };
}

/**
 * Health of the connections over which platforms deliver, for `/readyz`. A receiver that another platform still reaches
 * stays ready, so that losing one platform does not take down the other.
 */
function healthOfConnections(
  platforms: readonly Platform[],
  lastChange: (platform: PlatformName) => ConnectionChange | undefined,
): HealthPart[] {
  const connected = platforms.filter(({ connect }) => connect);
  const remarkOf = ({ name }: Platform) => connectionRemark(lastChange(name));
  const isReached = () => connected.length < platforms.length || connected.some((each) => remarkOf(each) === undefined);
  return connected.map((platform) => ({
    name: `${platform.name}-connection`,
    isReady: async () => isReached(),
    remark: () => remarkOf(platform),
  }));
}

/** Remark in `/readyz` on a connection that delivers to no process of this deployment. */
function connectionRemark(change: ConnectionChange | undefined): string | undefined {
  switch (change?.state) {
    case 'open':
      return undefined;
    case 'standby':
      return change.isReplaced ? REPLACED_REMARK : undefined;
    case 'replaced':
      return REPLACED_REMARK;
    case 'refused':
      return 'refused by the platform: the log names the setting';
    case 'closed':
    case undefined:
      return 'not connected; reconnects automatically';
  }
}

const REPLACED_REMARK =
  'another program is connected as this bot and receives its messages: stop it, or give it its own bot';
