import { createAmendAnswered } from './amend-answered.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Router from '@koa/router';
import { abortable } from '../../shared/abortable.ts';
import { asError } from '../../shared/coded-error.ts';
import { inBackground } from '../../shared/in-background.ts';
import { DAY_MS, monotonicMs, SECOND_MS, type NowMs } from '../../shared/clock.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { shareThroughRedis, type CapacityShare } from '../model/capacity-share.ts';
import { createBase, type BotOptions } from './base.ts';
import { personIdOf, conversationOf, type GroupScope } from '../domain/conversation.ts';
import { platformForTenant } from '../platforms/of-tenant.ts';
import type { Platform } from '../platforms/platform.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import { modelsToRefer, readChatCatalog } from './models.ts';
import { readGreetings } from './greeting.ts';
import type { ListedModels } from './listed-models.ts';
import { createQuarantine } from './quarantine.ts';
import type { MetricsJson } from './worker-process/worker-messages.ts';
import { ProcessMetrics } from './worker-process/process-metrics.ts';
import { createScenes } from '../policy/scenes.ts';
import { readScenes } from './scenes.ts';
import { createPolicy, type Policy } from '../policy/policy.ts';
import { parsePolicyFile } from '../policy/policy-file.ts';
import { Inbox } from '../queue/accept.ts';
import { noteAnswerEnding } from '../queue/thread-subscriptions.ts';
import { replayAfterFailover } from '../queue/replay-after-failover.ts';
import { ReplayBuffer } from '../queue/replay-buffer.ts';
import type { PressureLimits } from '../queue/queue-pressure.ts';
import type { QuarantineOptions } from '../queue/quarantine.ts';
import { startShardReports, readAllShards, ShardRegistry } from '../queue/shard-registry.ts';
import { startSweeper } from '../queue/sweeper.ts';
import { MAX_HELD_MESSAGES } from '../queue/turn-store.ts';
import { TurnWorker } from '../queue/turn-worker.ts';
import type { Config } from '../config/config.ts';
import { fileInUse } from '../config/config-file.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import { MediaStore } from '../turn/conversation/images/media-store.ts';
import { PromptSizes } from '../turn/conversation/prompt-sizes.ts';
import { fieldsToRead } from '../domain/message-record.ts';
import { messageKey } from '../domain/partition-keys.ts';
import { prefetchFiles } from '../turn/files/fetch-files.ts';
import { prefetchImages } from '../turn/images/fetch-images.ts';
import { DeferredReconciliation } from '../reply/deferred-reconciliation.ts';
import { createAnswerQuestion } from '../turn/answer/answer-question.ts';
import { createApology } from '../turn/apologise.ts';
import { createDecideOutcome } from '../turn/turn-pipeline.ts';
import { createOpenTurn } from '../turn/open-turn.ts';
import { createRunTurn } from '../turn/run-turn.ts';
import { createRejectUnreadable } from '../turn/reject-unreadable.ts';
import { SignInGate } from '../turn/sign-in-gate.ts';
import { createRunSlashWord } from '../turn/commands/run-slash-word.ts';
import { createTakeTypedCode } from '../turn/typed-codes.ts';
import { shedLoad } from '../turn/answer/load-shedding.ts';
import type { HealthPart } from '../metrics/health.ts';
import { healthOfConnections } from './connection-health.ts';
import { openConnections, type Connections } from '../ingress/connections.ts';
import { createHandleDelivery } from '../ingress/handle-delivery.ts';
import { installRoutes } from '../ingress/install-routes.ts';
import { webhookRoutes, type ServeWebhook } from '../ingress/webhook-routes.ts';
import { createSignIn, releaseIfLinked, repeatReleases, startRechecks, watchForLostLinks } from './sign-in.ts';
import { readKnowledge, type NextKnowledge } from './knowledge.ts';
import { createTools } from './tools.ts';
import { createKnowledge } from '../knowledge/create-knowledge.ts';
import { storeFeedback } from '../reply/feedback/keep-feedback.ts';
import { FollowUps } from '../reply/follow-ups/follow-ups.ts';
import { createNotifyRefused } from './notify-refused.ts';
import { turnsGraceSec } from './shutdown-timeout.ts';
import { createChatClient, type ChatClient } from '../model/chat-client.ts';
import type { ModelCatalog } from '../../shared/models/model-catalog.ts';
import type { InboundMessage } from '../domain/message.ts';
import { readCodes } from '../identity/typed-code/read-codes.ts';
import { textOfMessage } from '../turn/prompt/question.ts';
import { reclaimFromDeadWorkers } from '../queue/reclaim.ts';
import type { WakeQueue } from '../queue/wake-queue.ts';
import { keepWorkerPresence } from '../queue/worker-presence.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { DeliveryId } from '../domain/ids.ts';
import { storeDeferredMessage } from '../reply/follow-ups/deferred-messages.ts';
import type { ReplyReport } from '../reply/reply-report.ts';
import type { Log } from '../../shared/log.ts';
import { SummaryStore } from '../turn/conversation/summary-store.ts';
import { SummaryQueue } from '../queue/summary-queue.ts';
import { createSummarise } from '../turn/prompt/summarise.ts';

function feedbackRules({ conversation }: Config): { lifeMs: number; keepsWords: boolean } {
  return { lifeMs: conversation.feedbackTtlDays * DAY_MS, keepsWords: conversation.keepsFeedbackText };
}

export interface Receiver {
  serveWebhook: ServeWebhook;
  /** The sign-in pages. */
  routes: Router[];
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
export function createReceiver(options: BotOptions): Receiver {
  const { config, nowMs, log, report } = options;
  const base = createBase(options, 'fail-fast');
  const { redis, keyRing, platforms, wakeQueue, listed } = base;
  const identity = createSignIn(options, base);
  const isUnmergeable = config.signIn.proofs.includes('typed-code') ? holdsCodeOf(config) : undefined;
  const recent = new ReplayBuffer({ onReducedToId: () => report.messageReducedToId() });
  const inbox = new Inbox({ redis, keyRing, recent, isUnmergeable, limits: config.queue });
  const endSaying = startShardReports(redis, config.queue.shards);
  const endWatch = replayAfterFailover({ redis, inbox, recent, wakeQueue, log, report });
  const endLinkWatch = watchForLostLinks(base, identity, log);
  const { groupScope } = config.conversation;
  const mediaStore = new MediaStore(redis, keyRing);
  const served = [...platforms.values()];
  const greetings = { redis, keyRing, identity };
  let greeting = readGreetings(config, greetings);
  let connections: Connections | undefined;
  const handle = createHandleDelivery({
    onAccepted: (platform, accepted) => {
      const { conversation, message, deliveryId } = accepted;
      const { sender } = message;
      const personId = personIdOf(message, sender.userId);
      // Attachments are prefetched only for signed-in people.
      const place = {
        platform: platformForTenant(platform, message.tenant) ?? platform,
        store: mediaStore,
        conversation,
        personId,
        isSignedIn: true,
      };
      // An attachment of a message answered meanwhile may already be deleted and must not be stored again.
      const record = messageKey(conversation.partition, deliveryId);
      const stillWaits = async () => (await redis.hget(record, ...fieldsToRead('state'))) === 'accepted';
      const isKnown = async () =>
        (await stillWaits()) && (!identity || (await identity.accountOf(message, sender.userId))?.status === 'active');
      // A turn that begins earlier fetches them itself.
      inBackground(() => prefetchImages(place, { message, deliveryId, isKnown }));
      inBackground(() => prefetchFiles(place, { message, deliveryId, isKnown }));
    },
    onRefused: createNotifyRefused({ redis, keyRing, log }),
    greeting: (platform, to) => greeting(platform, to),
    answered: {
      amendAnswered: createAmendAnswered({ redis, keyRing, groupScope }),
      keepFeedback: (rating) => storeFeedback({ redis, keyRing, ...feedbackRules(config) }, rating),
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

export interface WorkerPart {
  worker: TurnWorker;
  redis: RedisClient;
  platforms: ReadonlyMap<PlatformName, Platform>;
  /** Takes over the turns of workers known to be dead at once. @returns how many turns */
  reclaimFromDeadWorkers(names: readonly string[]): Promise<number>;
  /** What its quarantine processes have counted. */
  quarantineCounts(): Promise<MetricsJson>;
  /**
   * Reads policy, scenes, tools, models, knowledge and prompt again. @returns a function that applies them to later turns.
   * @throws ConfigFileError
   */
  reread(): Promise<() => void>;
  close(graceSec: number): Promise<void>;
}

/** Runs turns. Its store waits for Redis as long as necessary. */
export function createWorkerPart(options: BotOptions): WorkerPart {
  const { config, secrets, nowMs, log, report } = options;
  const base = createBase(options, 'wait');
  const { redis, keyRing, platforms, store, wakeQueue, listed } = base;
  const identity = createSignIn(options, base);
  const endLinkWatch = watchForLostLinks(base, identity, log);
  const chat = createChat(options, readChatCatalog(config, secrets), shareThroughRedis(redis));
  const { groupScope } = config.conversation;
  const mode = config.signIn.mode;
  const summaries = createSummaries({ config, listed, redis, keyRing, wakeQueue, chat, nowMs, log });
  const mediaStore = new MediaStore(redis, keyRing);
  const sizes = new PromptSizes(nowMs);
  const reconciliation = new DeferredReconciliation({ redis, keyRing, platforms, log });
  const followUps = new FollowUps({ redis, keyRing, platforms, log, report });
  const reply = { redis, keyRing, reconciliation, nowMs, log, report };
  const openTurn = createOpenTurn({ platforms, groupScope, keyRing, reply });
  const setAside = createRejectUnreadable({ platforms, reply });
  /** Builds the processing of a turn from the current files. @throws ConfigFileError */
  const readTurnFiles = (next: NextKnowledge) => {
    const { models, fallbackModel } = listed.config.chat;
    const catalog = readChatCatalog(config, secrets);
    const gate = new SignInGate({
      identity,
      policy: readPolicy(listed.config),
      scenes: createScenes(readScenes(config)),
      mode,
      helpUrl: config.signIn.helpUrl,
      maxHeld: MAX_HELD_MESSAGES,
      keyRing,
      nowMs,
      report,
    });
    const maxAgeMs = config.queue.questionMaxAgeSec * SECOND_MS;
    const answer = createAnswerQuestion({
      requestSummary: (request) => summaries.request(request),
      models: { catalog, models, fallbackModel },
      tools: {
        chat: chat.withCatalog(catalog),
        toolbox: createTools({ config, secrets, nowMs, egress: options.egress, knowledge: next.knowledge }),
        report,
      },
      prompt: {
        systemPrompt: readFileSync(fileInUse(config.chat.systemPromptFile), 'utf8'),
        budgetTokens: config.chat.promptTokens,
        maxTokens: config.chat.maxPromptTokens,
        ...{ sizes, groupScope, idleMs: config.conversation.idleSec * SECOND_MS },
        timeZone: config.timeZone,
      },
      images: { mediaStore, mode },
      sendsUser: config.chat.sendsUser,
      thinkingShown: config.chat.thinkingShown,
      ...{ keyRing, nowMs, maxAgeMs },
    });
    const answerQuestion = shedLoad(keyRing, answer);
    const runSlashWord = createRunSlashWord({
      keyRing,
      catalog,
      gate,
      identity,
      mode,
      answerQuestion,
      serviceName: config.signIn.serviceName,
      records: { redis, keyRing, groupScope, nowMs, timeZone: config.timeZone },
    });
    const takeTypedCode = createTakeTypedCode({ identity, keyRing, log });
    const steps = { gate, runSlashWord, takeTypedCode, answerQuestion };
    const decideOutcome = createDecideOutcome({ ...steps, keyRing, maxAgeMs, log });
    return createRunTurn({
      ...{ redis, keyRing, groupScope, openTurn, setAside, decideOutcome, report },
      noteAnswerEnding: (thread) => noteAnswerEnding(redis, thread),
    });
  };
  const searchParent = options.quarantine?.searchParent;
  const knowledge = createKnowledge({
    folder: join(config.local.dataDir, 'knowledge'),
    ...{ report, nowMs, searchParent },
  });
  // A turn that has begun keeps the files it began with.
  let nowKnown = readKnowledge(config, knowledge);
  let runTurn = readTurnFiles(nowKnown);
  nowKnown.takeOver();
  listed.onChange(() => {
    try {
      runTurn = readTurnFiles(nowKnown);
    } catch (error) {
      log.error({ error: asError(error) }, 'the listed models are not used before the files of config/ are correct');
    }
  });
  const isQuarantine = searchParent !== undefined;
  const metrics = new ProcessMetrics();
  const takeGuilty = (one: ConversationRef) => worker.runNow(one);
  const takeBack: QuarantineOptions['takeBack'] = (turn) => worker.takeBack(turn);
  const needs = { takeGuilty, takeBack, searchLocal: knowledge.searchLocal, metrics };
  const quarantine = isQuarantine ? undefined : createQuarantine(options, base, needs);
  const worker: TurnWorker = new TurnWorker({
    redis,
    store,
    quarantine,
    wakeQueue,
    limits: {
      shards: isQuarantine ? 0 : config.queue.shards,
      concurrency: config.queue.workerConcurrency,
      maxCrashes: config.queue.turnMaxCrashes,
      pressure: pressureLimits(config),
    },
    steps: {
      async runTurn(context) {
        // An aborted turn ends as usual, whether or not the models are known.
        await abortable(listed.settled, context.signal).catch(() => undefined);
        return runTurn(context);
      },
      apologise: createApology({ openTurn, setAside }),
      onHeld: async (claim) => (identity ? releaseIfLinked(base, identity, claim) : 0),
      deliverFollowUps: (partition) => followUps.wake(partition),
    },
    nowMs,
    log,
    report,
  });
  const census = new ShardRegistry(redis, config.queue.shards);
  const chores = [
    () => readAllShards(census, worker),
    () => followUps.repeat(),
    () => reconciliation.runDue(),
    ...(identity ? [repeatReleases(base, identity)] : []),
  ];
  const reclaim = (names: readonly string[]) => reclaimFromDeadWorkers(names, { redis, shards: config.queue.shards });
  // The parent of a quarantine process does these for it.
  const duties = isQuarantine
    ? undefined
    : {
        endSweeper: startSweeper({ redis, wakeQueue, log, report }, chores),
        endPresence: keepWorkerPresence({
          ...{ redis, workerName: store.workerName, nowMs: monotonicMs },
          reclaim: (name) => reclaim([name]),
        }),
        endRechecks: identity ? startRechecks(identity, log) : () => undefined,
      };
  return {
    worker,
    redis,
    platforms,
    async reread() {
      await listed.refresh();
      const nextKnowledge = readKnowledge(config, knowledge);
      const next = readTurnFiles(nextKnowledge);
      return () => {
        nextKnowledge.takeOver();
        nowKnown = nextKnowledge;
        runTurn = next;
      };
    },
    reclaimFromDeadWorkers: reclaim,
    quarantineCounts: () => metrics.sum(),
    async close(graceSec) {
      duties?.endSweeper();
      duties?.endRechecks();
      endLinkWatch();
      const turnsMs = turnsGraceSec(graceSec) * SECOND_MS;
      await Promise.all([worker.close(turnsMs), summaries.close()]);
      await duties?.endPresence();
      await followUps.close();
      listed.close();
      await wakeQueue.close();
      await chat.close();
      await knowledge.close();
      redis.disconnect();
    },
  };
}

function pressureLimits({ queue }: Config): PressureLimits {
  const { softWaiting, hardWaiting, softAgeSec, hardAgeSec } = queue;
  return { softWaiting, hardWaiting, softAgeMs: softAgeSec * SECOND_MS, hardAgeMs: hardAgeSec * SECOND_MS };
}

/** @throws ConfigFileError; at start the file was already checked (`config-files.ts`) */
function readPolicy({ policyFile, chat }: Config): Policy {
  const { models, model } = chat;
  const file = parsePolicyFile(readFileSync(fileInUse(policyFile), 'utf8'), modelsToRefer(chat));
  return createPolicy({ file, models, defaultModel: model });
}

/** Creates the client of the chat service. @param share how workers share the concurrency of its engines */
function createChat(
  { config, secrets, nowMs, log, report }: BotOptions,
  catalog: ModelCatalog,
  share: CapacityShare,
): ChatClient {
  const { baseUrl } = config.chat;
  return createChatClient({ baseUrl, apiKey: secrets.chatApiKey ?? '', catalog, share, nowMs, log, report });
}

/** A message with a sign-in code is handled separately and never merged with a question. */
function holdsCode(message: InboundMessage): boolean {
  return readCodes(textOfMessage(message)).length > 0;
}

/** On a platform with another proof, text that looks like a code is an ordinary message. */
function holdsCodeOf({ signIn: { proofs, proofsBy } }: Config): (message: InboundMessage) => boolean {
  return (message) => (proofsBy[message.platform] ?? proofs).includes('typed-code') && holdsCode(message);
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
    await storeDeferredMessage(redis, keyRing, { conversation, deliveryId: replyId, text });
    report.answerNotShown({ platform: name, deliveryId: replyId });
  };
}

interface SummaryParts {
  config: Config;
  listed: ListedModels;
  redis: RedisClient;
  keyRing: KeyRing;
  wakeQueue: Pick<WakeQueue, 'waiting'>;
  chat: Pick<ChatClient, 'stream'>;
  nowMs: NowMs;
  log: Log;
}

/** Creates the queue that summarises conversations in the background with the default model. */
function createSummaries({ config, listed, redis, keyRing, wakeQueue, chat, nowMs, log }: SummaryParts): SummaryQueue {
  const { promptTokens } = config.chat;
  const model = () => listed.config.chat.model;
  const store = new SummaryStore(redis, keyRing, config.conversation.historyTtlDays * DAY_MS);
  return new SummaryQueue({
    redis,
    isUnderPressure: async () => (await wakeQueue.waiting()) >= config.queue.softWaiting,
    summarise: createSummarise({ chat, keyRing, store, model, promptTokens, nowMs, timeZone: config.timeZone }),
    log,
  });
}
