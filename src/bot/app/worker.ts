import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { abortable } from '../../shared/abortable.ts';
import { asError } from '../../shared/coded-error.ts';
import { DAY_MS, monotonicMs, SECOND_MS, type NowMs } from '../../shared/clock.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { shareThroughRedis } from '../model/capacity-share.ts';
import { createBase, type BotOptions } from './base.ts';
import type { Platform } from '../platforms/platform.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import { modelsToRefer, readChatCatalog } from './models.ts';
import type { ListedModels } from './listed-models.ts';
import { createQuarantine } from './quarantine.ts';
import type { MetricsJson } from './worker-process/worker-messages.ts';
import { ProcessMetrics } from './worker-process/process-metrics.ts';
import { createScenes } from '../policy/scenes.ts';
import { readPolicyFile } from './read-policy-file.ts';
import { readScenes } from './scenes.ts';
import { createPolicy, type Policy } from '../policy/policy.ts';
import { noteAnswerEnding } from '../queue/thread-subscriptions.ts';
import type { PressureLimits } from '../queue/queue-pressure.ts';
import type { QuarantineOptions } from '../queue/quarantine.ts';
import { Canary, commitCanary, isCanary } from '../queue/canary.ts';
import { settleBudgets } from '../queue/settle-budgets.ts';
import { readAllShards, ShardRegistry } from '../queue/shard-registry.ts';
import { startSweeper } from '../queue/sweeper.ts';
import { MAX_HELD_MESSAGES } from '../queue/turn-store.ts';
import { TurnWorker } from '../queue/turn-worker.ts';
import type { Config } from '../config/config.ts';
import { fileInUse } from '../config/config-file.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import { MediaStore } from '../turn/conversation/images/media-store.ts';
import { PromptSizes } from '../turn/conversation/prompt-sizes.ts';
import { DeferredReconciliation } from '../reply/deferred-reconciliation.ts';
import { createAnswerQuestion } from '../turn/answer/answer-question.ts';
import { createApology } from '../turn/apologise.ts';
import { createDecideOutcome } from '../turn/turn-pipeline.ts';
import { createOpenTurn } from '../turn/open-turn.ts';
import { BudgetStore } from '../turn/budgets/budget-store.ts';
import { moderationReader } from './moderation.ts';
import { maskPrompts } from '../turn/moderation/mask-rules.ts';
import { createRunTurn } from '../turn/run-turn.ts';
import { createRejectUnreadable } from '../turn/reject-unreadable.ts';
import { SignInGate } from '../turn/sign-in-gate.ts';
import { createRunSlashWord } from '../turn/commands/run-slash-word.ts';
import { createTakeTypedCode } from '../turn/typed-codes.ts';
import { answerPaused } from '../turn/pauses/answer-paused.ts';
import { Pauses } from '../turn/pauses/pauses.ts';
import { shedLoad } from '../turn/answer/load-shedding.ts';
import { createAuditChores } from './audit.ts';
import { TurnAudit } from '../audit/turn-audit.ts';
import { createSignIn, releaseIfLinked, repeatReleases, startRechecks, watchForLostLinks } from './sign-in.ts';
import { readKnowledge, type NextKnowledge } from './knowledge.ts';
import { createTools } from './tools.ts';
import { createKnowledge } from '../knowledge/create-knowledge.ts';
import { FollowUps } from '../reply/follow-ups/follow-ups.ts';
import { turnsGraceSec } from './shutdown-timeout.ts';
import { createChatClient, type ChatClient } from '../model/chat-client.ts';
import { reclaimFromWorkers, type ReclaimOptions } from '../queue/reclaim.ts';
import type { WakeQueue } from '../queue/wake-queue.ts';
import { keepWorkerPresence } from '../queue/worker-presence.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Log } from '../../shared/log.ts';
import { SummaryStore } from '../turn/conversation/summary-store.ts';
import { SummaryQueue } from '../queue/summary-queue.ts';
import { createSummarise } from '../turn/prompt/summarise.ts';

export interface WorkerPart {
  worker: TurnWorker;
  /** Undefined if CANARY_SEC is 0, and in quarantine. */
  canary: Canary | undefined;
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
  const { config, secrets, nowMs, log } = options;
  const base = createBase(options, 'wait');
  const { redis, keyRing, platforms, store, wakeQueue, listed } = base;
  const audit = config.audit.isOn ? new TurnAudit(keyRing, nowMs) : undefined;
  const report = audit ? audit.listen(options.report) : options.report;
  const identity = createSignIn(options, base);
  const endLinkWatch = watchForLostLinks(base, identity, log);
  const chat = createChatClient({
    ...{ baseUrl: config.chat.baseUrl, apiKey: secrets.chatApiKey ?? '', catalog: readChatCatalog(config, secrets) },
    // How workers share the concurrency of the engines.
    share: shareThroughRedis(redis),
    ...{ nowMs, log, report: options.report },
  });
  const { groupScope } = config.conversation;
  const mode = config.signIn.mode;
  const pauses = new Pauses(redis, report);
  const summaries = createSummaries({ config, listed, redis, keyRing, wakeQueue, chat, pauses, nowMs, log });
  const mediaStore = new MediaStore(redis, keyRing);
  const sizes = new PromptSizes(nowMs);
  const moderation = moderationReader(config, report);
  const budgets = new BudgetStore({ redis, keyRing, nowMs, timeZone: config.timeZone });
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
        chat: maskPrompts(chat.withCatalog(catalog), config.moderation.maskedInPrompts),
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
      budgets: { store: budgets, settle: (turnId, charges) => settleBudgets(redis, turnId, charges) },
      moderation: moderation.read(),
      sendsUser: config.chat.sendsUser,
      shown: { thinking: config.chat.thinkingShown, masked: config.moderation.maskedInAnswers },
      ...{ keyRing, nowMs, maxAgeMs },
    });
    const answerQuestion = answerPaused(keyRing, pauses, shedLoad(keyRing, answer));
    const runSlashWord = createRunSlashWord({
      keyRing,
      catalog,
      gate,
      identity,
      mode,
      answerQuestion,
      budgets,
      serviceName: config.signIn.serviceName,
      records: {
        ...{ redis, keyRing, groupScope, nowMs, timeZone: config.timeZone, aiMark: config.conversation.aiMark },
        isAudited: config.audit.isOn,
      },
    });
    const takeTypedCode = createTakeTypedCode({ identity, keyRing, log });
    const steps = { gate, runSlashWord, takeTypedCode, answerQuestion };
    const decideOutcome = createDecideOutcome({ ...steps, keyRing, maxAgeMs, log });
    return createRunTurn({
      ...{ redis, keyRing, groupScope, openTurn, setAside, decideOutcome, report },
      aiMark: config.conversation.aiMark,
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
  const { workerName } = store;
  const needs = { workerName, takeGuilty, takeBack, searchLocal: knowledge.searchLocal, metrics };
  const quarantine = isQuarantine ? undefined : createQuarantine(options, base, needs);
  const apologise = createApology({ openTurn, setAside });
  let isReady = false;
  const ready = Promise.all([listed.settled, pauses.settled]).then(() => (isReady = true));
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
        if (isCanary(context.claim)) {
          report.canaryClaimed({ waitedMs: context.claim.newestAgeMs });
          return commitCanary(context.claim);
        }
        // An aborted turn ends as usual, whether or not the models are known.
        if (!isReady) await abortable(ready, context.signal).catch(() => undefined);
        return audit ? audit.record(context.claim, () => runTurn(context)) : runTurn(context);
      },
      apologise: audit ? (claim) => audit.record(claim, () => apologise(claim)) : apologise,
      onHeld: async (claim) => (identity ? releaseIfLinked(base, identity, claim) : 0),
      deliverFollowUps: (partition) => followUps.wake(partition),
    },
    nowMs,
    log,
    report,
  });
  const census = new ShardRegistry(redis, config.queue.shards);
  const auditChores = createAuditChores({ config, redis, keyRing, nowMs, log });
  const chores = [
    () => readAllShards(census, worker),
    () => followUps.repeat(),
    () => reconciliation.runDue(),
    ...auditChores.chores,
    ...(identity ? [repeatReleases(base, identity)] : []),
  ];
  const reclaim = (names: readonly string[], absence?: ReclaimOptions['absence']) =>
    reclaimFromWorkers(names, { redis, shards: config.queue.shards, wakeQueue, absence });
  // The parent of a quarantine process does these for it.
  const duties = isQuarantine
    ? undefined
    : {
        endSweeper: startSweeper({ redis, wakeQueue, log, report }, chores),
        endPresence: keepWorkerPresence({
          ...{ redis, workerName, nowMs: monotonicMs },
          reclaim: (name, absence) => reclaim([name], absence),
        }),
        endRechecks: identity ? startRechecks(identity, log) : () => undefined,
      };
  const everyMs = config.queue.canarySec * SECOND_MS;
  const isBusy = () => worker.isFull;
  const canary =
    isQuarantine || everyMs === 0
      ? undefined
      : new Canary({ redis, keyRing, wakeQueue, workerName, everyMs, isBusy, monotonicMs, log, report });
  return {
    worker,
    canary,
    redis,
    platforms,
    async reread() {
      await Promise.all([listed.refresh(), moderation.prepare()]);
      const nextKnowledge = readKnowledge(config, knowledge);
      const next = readTurnFiles(nextKnowledge);
      return () => {
        nextKnowledge.takeOver();
        nowKnown = nextKnowledge;
        runTurn = next;
      };
    },
    reclaimFromDeadWorkers: (names) => reclaim(names),
    quarantineCounts: () => metrics.sum(),
    async close(graceSec) {
      canary?.stop();
      duties?.endSweeper();
      duties?.endRechecks();
      endLinkWatch();
      pauses.close();
      const turnsMs = turnsGraceSec(graceSec) * SECOND_MS;
      await Promise.all([worker.close(turnsMs), summaries.close()]);
      await duties?.endPresence();
      await auditChores.close();
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
function readPolicy(config: Config): Policy {
  const { models, model } = config.chat;
  return createPolicy({ file: readPolicyFile(config, modelsToRefer(config.chat)), models, defaultModel: model });
}

interface SummaryParts {
  config: Config;
  listed: ListedModels;
  redis: RedisClient;
  keyRing: KeyRing;
  wakeQueue: Pick<WakeQueue, 'waiting'>;
  chat: Pick<ChatClient, 'stream'>;
  pauses: Pauses;
  nowMs: NowMs;
  log: Log;
}

/** Creates the queue that summarises conversations in the background with the default model. */
function createSummaries(parts: SummaryParts): SummaryQueue {
  const { config, listed, redis, keyRing, wakeQueue, chat, pauses, nowMs, log } = parts;
  const { promptTokens } = config.chat;
  const model = () => listed.config.chat.model;
  const store = new SummaryStore(redis, keyRing, config.conversation.historyTtlDays * DAY_MS);
  return new SummaryQueue({
    redis,
    isUnderPressure: async () =>
      pauses.of('all', `model:${model()}`) !== undefined || (await wakeQueue.waiting()) >= config.queue.softWaiting,
    summarise: createSummarise({
      chat: maskPrompts(chat, config.moderation.maskedInPrompts),
      keyRing,
      store,
      model,
      promptTokens,
      nowMs,
      timeZone: config.timeZone,
    }),
    log,
  });
}
