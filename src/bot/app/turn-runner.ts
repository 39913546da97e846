import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { abortable } from '../../shared/abortable.ts';
import { asError } from '../../shared/coded-error.ts';
import { DAY_MS, SECOND_MS } from '../../shared/clock.ts';
import { fileInUse } from '../config/config-file.ts';
import type { Config } from '../config/config.ts';
import type { TurnCommit, TurnControls } from '../domain/turn.ts';
import type { Identity } from '../identity/identity.ts';
import { createKnowledge } from '../knowledge/create-knowledge.ts';
import { shareThroughRedis } from '../model/capacity-share.ts';
import { createChatClient, type ChatClient } from '../model/chat-client.ts';
import { createPolicy, type Policy } from '../policy/policy.ts';
import { createScenes } from '../policy/scenes.ts';
import { settleBudgets } from '../queue/settle-budgets.ts';
import { SummaryQueue } from '../queue/summary-queue.ts';
import { noteAnswerEnding } from '../queue/thread-subscriptions.ts';
import { MAX_HELD_MESSAGES } from '../queue/turn-store.ts';
import type { DeferredReconciliation } from '../reply/deferred-reconciliation.ts';
import { createAnswerQuestion } from '../turn/answer/answer-question.ts';
import { shedLoad } from '../turn/answer/load-shedding.ts';
import { createApology } from '../turn/apologise.ts';
import { BudgetStore } from '../turn/budgets/budget-store.ts';
import { createRunSlashWord } from '../turn/commands/run-slash-word.ts';
import { MediaStore } from '../turn/conversation/images/media-store.ts';
import { PromptSizes } from '../turn/conversation/prompt-sizes.ts';
import { SummaryStore } from '../turn/conversation/summary-store.ts';
import { maskPrompts } from '../turn/moderation/mask-rules.ts';
import { createOpenTurn } from '../turn/open-turn.ts';
import { answerPaused } from '../turn/pauses/answer-paused.ts';
import { Pauses } from '../turn/pauses/pauses.ts';
import { createSummarise } from '../turn/prompt/summarise.ts';
import { createRejectUnreadable } from '../turn/reject-unreadable.ts';
import { createRunTurn } from '../turn/run-turn.ts';
import { SignInGate } from '../turn/sign-in-gate.ts';
import { createDecideOutcome } from '../turn/turn-pipeline.ts';
import { createTakeTypedCode } from '../turn/typed-codes.ts';
import type { Base, BotOptions } from './base.ts';
import { readKnowledge, type NextKnowledge } from './knowledge.ts';
import { modelsToRefer, readChatCatalog } from './models.ts';
import { moderationReader } from './moderation.ts';
import { readPolicyFile } from './read-policy-file.ts';
import { readScenes } from './scenes.ts';
import { createTools } from './tools.ts';

interface TurnRunnerOptions extends BotOptions {
  identity: Identity | undefined;
  reconciliation: DeferredReconciliation;
}

/** Processes claimed turns with the current files of `config/`. A turn that has begun keeps the files it began with. */
export function createTurnRunner(options: TurnRunnerOptions, base: Base) {
  const { config, secrets, identity, reconciliation, nowMs, log, report } = options;
  const { redis, keyRing, platforms, listedModels } = base;
  const { groupScope } = config.conversation;
  const { mode } = config.signIn;
  const chat = createChatClient({
    ...{ baseUrl: config.chat.baseUrl, apiKey: secrets.chatApiKey ?? '', catalog: readChatCatalog(config, secrets) },
    // How workers share the concurrency of the engines.
    share: shareThroughRedis(redis),
    ...{ nowMs, log, report },
  });
  const knowledge = createKnowledge({
    folder: join(config.local.dataDir, 'knowledge'),
    ...{ report, nowMs, searchParent: options.quarantine?.searchParent },
  });
  const pauses = new Pauses(redis, report);
  const summaries = createSummaries(options, base, { chat, pauses });
  const mediaStore = new MediaStore(redis, keyRing);
  const sizes = new PromptSizes(nowMs);
  const moderation = moderationReader(config, report);
  const budgets = new BudgetStore({ redis, keyRing, nowMs, timeZone: config.timeZone });
  const reply = { redis, keyRing, reconciliation, nowMs, log, report };
  const openTurn = createOpenTurn({ platforms, groupScope, keyRing, reply });
  const rejectUnreadable = createRejectUnreadable({ platforms, reply });
  const maxAgeMs = config.queue.questionMaxAgeSec * SECOND_MS;
  /** Builds the processing of a turn from the current files. @throws ConfigFileError */
  const readTurnFiles = (next: NextKnowledge) => {
    const { models, fallbackModel } = listedModels.config.chat;
    const catalog = readChatCatalog(config, secrets);
    const gate = new SignInGate({
      identity,
      policy: readPolicy(listedModels.config),
      scenes: createScenes(readScenes(config)),
      mode,
      helpUrl: config.signIn.helpUrl,
      maxHeld: MAX_HELD_MESSAGES,
      keyRing,
      nowMs,
      report,
    });
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
      ...{ redis, keyRing, groupScope, openTurn, rejectUnreadable, decideOutcome, report },
      aiMark: config.conversation.aiMark,
      noteAnswerEnding: (thread) => noteAnswerEnding(redis, thread),
    });
  };
  let nowKnown = readKnowledge(config, knowledge);
  let runTurn = readTurnFiles(nowKnown);
  nowKnown.takeOver();
  listedModels.onChange(() => {
    try {
      runTurn = readTurnFiles(nowKnown);
    } catch (error) {
      log.error({ error: asError(error) }, 'the listed models are not used before the files of config/ are correct');
    }
  });
  let isReady = false;
  const ready = Promise.all([listedModels.settled, pauses.settled]).then(() => (isReady = true));
  return {
    async run(context: TurnControls): Promise<TurnCommit> {
      // An aborted turn ends as usual, whether or not the models are known.
      if (!isReady) await abortable(ready, context.signal).catch(() => undefined);
      return runTurn(context);
    },
    apologise: createApology({ openTurn, rejectUnreadable }),
    searchLocal: knowledge.searchLocal,
    async reread() {
      await Promise.all([listedModels.refresh(), moderation.prepare()]);
      const nextKnowledge = readKnowledge(config, knowledge);
      const next = readTurnFiles(nextKnowledge);
      return () => {
        nextKnowledge.takeOver();
        nowKnown = nextKnowledge;
        runTurn = next;
      };
    },
    endSummaries(): Promise<void> {
      pauses.close();
      return summaries.close();
    },
    /** Call it after all turns have ended. */
    async close(): Promise<void> {
      await chat.close();
      await knowledge.close();
    },
  };
}

/** @throws ConfigFileError; at start the file was already checked (`config-files.ts`) */
function readPolicy(config: Config): Policy {
  const { models, model } = config.chat;
  return createPolicy({ file: readPolicyFile(config, modelsToRefer(config.chat)), models, defaultModel: model });
}

/** Creates the queue that summarises conversations in the background with the default model. */
function createSummaries(
  { config, nowMs, log }: BotOptions,
  { redis, keyRing, wakeQueue, listedModels }: Base,
  { chat, pauses }: { chat: Pick<ChatClient, 'stream'>; pauses: Pauses },
): SummaryQueue {
  const { promptTokens } = config.chat;
  const model = () => listedModels.config.chat.model;
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
