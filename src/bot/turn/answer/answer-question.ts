import type { NowMs } from '../../../shared/clock.ts';
import { costOf } from '../../../shared/models/cost.ts';
import { type Language } from '../../../shared/text/texts.ts';
import { inStep, withoutSpan } from '../../../shared/tracing/tracing.ts';
import { promptRoom } from '../../../shared/models/model-catalog.ts';
import { personIdOf } from '../../domain/conversation.ts';
import type { DeliveryId } from '../../domain/ids.ts';
import type { MaskKind } from '../../domain/mask-kinds.ts';
import type { BudgetCharge } from '../../domain/turn.ts';
import { unknownSlashWord } from '../../domain/slash-words.ts';
import { localizeForChat, type Voice } from '../../i18n/say-typed.ts';
import { THREAD_TEXTS } from '../../i18n/thread-texts.ts';
import { TURN_TEXTS } from '../../i18n/turn-texts.ts';
import { ChatError } from '../../model/chat-error.ts';
import type { ChatRequest, ToolDeclaration } from '../../model/chat-types.ts';
import { isSuperseded } from '../../reply/turn-abort.ts';
import type { Models } from '../../policy/policy.ts';
import { sceneSystemPrompt } from '../../policy/scenes.ts';
import type { ToolAsker } from '../../tools/tool.ts';
import type { HistoryTurn } from '../conversation/history.ts';
import type { MediaStore } from '../conversation/images/media-store.ts';
import { usageChange } from '../conversation/usage-store.ts';
import { readQuestionFiles, type QuestionFiles, type QuestionFilesOptions } from '../files/read-files.ts';
import { ImageRefusedError, imageSceneOf } from '../images/fetch-images.ts';
import { imageObstacle, imageRefusal } from '../images/refuse-images.ts';
import type { AnswerQuestion, Outcome } from '../outcome.ts';
import { summaryRequest, type SummaryRequest } from '../prompt/earlier-conversation.ts';
import { isInThread, readThreadOf } from '../prompt/thread-context.ts';
import { unreadNotes, unreadRefusal } from '../tell-unread.ts';
import { voiceOf } from '../translate.ts';
import type { AdmittedContext } from '../turn-context.ts';
import type { SignInMode } from '../turn-ports.ts';
import type { BudgetStore } from '../budgets/budget-store.ts';
import { BudgetUsedUpError, Spending } from '../budgets/spending.ts';
import { tellNear, tellUsedUp } from '../budgets/tell-budget.ts';
import { BlockedAnswerError, BlockedPromptError } from '../moderation/moderated-answer.ts';
import { maskRulesOf } from '../moderation/mask-rules.ts';
import { AnswerDraft } from './answer-draft.ts';
import { createAnswerOutcomes, type AnswerOutcomes } from './answer-outcome.ts';
import { preparePrompt, type FittedPrompt, type PromptMaterial } from './answer-prompt.ts';
import { gatherMaterial, personsWords, type MaterialOptions, type MaterialSources } from './gather-material.ts';
import { BRIEF_ANSWER_CHARS, briefPrompt, shouldBeBrief } from './load-shedding.ts';
import { waitPolicyOf, WAIT_TEXTS } from './wait-policy.ts';
import { fallbackFor, firstThatSees, pickModel, type ModelOptions } from './pick-model.ts';
import { isReasoningShown, Thought, type ThinkingShown } from './reasoning.ts';
import { retryOnContextLength, type PromptSize } from './retry-on-context-length.ts';
import { toolsOfTurn, type TurnToolOptions, type TurnTools } from './turn-tools.ts';

export interface AnswerQuestionOptions extends MaterialOptions {
  models: ModelOptions;
  tools: TurnToolOptions;
  images: {
    mediaStore: MediaStore;
    /** Whether sign-in is required: images of people who are not signed in share one budget. */
    mode: SignInMode;
  };
  shown: {
    thinking: ThinkingShown;
    /** What is masked in answers. */
    masked: readonly MaskKind[];
  };
  /** Wall clock, for the date in the prompt and the day that usage is counted for. */
  nowMs: NowMs;
  /** How long a question may wait for the chat service (SECURITY.md in-order). */
  maxAgeMs: number;
  budgets: {
    store: BudgetStore;
    /** Settles budgets outside a commit. */
    settle(turnId: DeliveryId, charges: readonly BudgetCharge[]): Promise<void>;
  };
  /** Whether requests tell the chat service a pseudonym of the user. */
  sendsUser: boolean;
  /** Requests a later summary of a conversation. Must not throw or block. */
  requestSummary(request: SummaryRequest): void;
}

/**
 * Answers a question in five steps: reads its attachments, gathers what the prompt may contain, builds the prompt, calls the
 * model with tools while the answer is shown, and ends with an outcome. Text that was shown is kept in every case
 * (SECURITY.md no-second-beginning).
 */
export function createAnswerQuestion(options: AnswerQuestionOptions): AnswerQuestion {
  return async (unread) => {
    const { question } = unread;
    const { trace } = unread.turn;
    // Not awaited here: the thread is read while attachments are.
    const thread = readThreadOf(unread);
    const isBare = question.text === '' && question.images.length === 0 && question.quotedText === undefined;
    const asksAboutThread = isBare && question.files.length === 0 && question.unread.length === 0 && isInThread(unread);
    if (isBare && question.files.length === 0 && !asksAboutThread) {
      trace.note('r', 'nothing-readable');
      return { kind: 'refused', text: unreadRefusal(question) };
    }
    const voice = voiceOf(unread);
    if (asksAboutThread && (await thread)?.kind !== 'read') {
      trace.note('r', 'thread-unread');
      return { kind: 'refused', text: localizeForChat(THREAD_TEXTS.bareUnread, voice) };
    }
    const scene = imageSceneOf(options.images, unread);
    const seesImages = firstThatSees(unread.models, options.models.catalog) !== undefined;
    const read = await readAttachments(options, unread, { scene, voice, seesImages, isBare });

    const context = read.refs === question.files ? unread : { ...unread, question: { ...question, files: read.refs } };
    const outcomes = createAnswerOutcomes(options.keyRing, context, voice);
    if (read.kind === 'refused') {
      trace.note('r', 'attachment');
      return outcomes.refused(read.text);
    }
    const startsAnew = context.replaced?.startsAnew ?? false;
    const notes = [...unknownWordNotes(question.text, voice), ...unreadNotes(question), ...read.notes];
    if (read.kind === 'ended') return outcomes.finished({ ...read, notes, sources: [], startsAnew });
    return answerQuestion(options, context, {
      scene,
      voice,
      seesImages,
      outcomes,
      files: read.files,
      thread,
      notes,
      startsAnew,
    });
  };
}

/** A note for a mistyped command, which says where the commands are listed. */
function unknownWordNotes(text: string, voice: Voice): string[] {
  const word = unknownSlashWord(text);
  return word === undefined ? [] : [localizeForChat(TURN_TEXTS.unknownWord, voice, { word })];
}

/** Reads the files of a question, unless its images already prevent an answer. */
async function readAttachments(
  { models }: Pick<AnswerQuestionOptions, 'models'>,
  { question, live, turn, newest, controls, models: allowed }: AdmittedContext,
  reading: Pick<QuestionFilesOptions, 'scene' | 'voice' | 'seesImages' | 'isBare'>,
): Promise<QuestionFiles> {
  const obstacle = imageObstacle(models, { question, allowed, chatKind: newest.chat.kind });
  if (obstacle !== undefined) return { kind: 'refused', refs: question.files, text: obstacle };
  const showStatus = (status: string) => live.show({ text: '', status });
  // After a sign-in, the reply still shows the invitation. Replace it at once with a note that the question is being
  // answered.
  const isReleased = turn.wasHeldInGroup || (turn.messages.at(-1)?.acceptedAtMs ?? 0) > turn.startedAtMs;
  if (isReleased) showStatus(localizeForChat(TURN_TEXTS.released, reading.voice));
  return readQuestionFiles({ ...reading, showStatus }, question, controls.signal);
}

/** A question whose own files have been read. */
interface ReadQuestion extends MaterialSources {
  outcomes: AnswerOutcomes;
  /** Notes on parts that could not be read. */
  notes: readonly string[];
  /** Earlier messages do not belong to the conversation of this question. */
  startsAnew: boolean;
}

async function answerQuestion(
  options: AnswerQuestionOptions,
  context: AdmittedContext,
  read: ReadQuestion,
): Promise<Outcome> {
  const { live, question, turn, newest, platform, controls, preferences, rule } = context;
  const { voice, outcomes, notes, startsAnew } = read;
  const judging = options.moderation?.judgePrompt(personsWords(question, read.files), turn.turnId, controls.signal);
  const prompted = await judging?.catch((error: unknown) => {
    if (controls.signal.reason === 'stopped') return 'stopped' as const;
    throw error;
  });
  if (prompted === 'stopped') return outcomes.finished({ text: '', ending: 'stopped', notes, sources: [], startsAnew });
  if (prompted !== undefined && prompted !== 'allowed') return blockPrompt(context, outcomes, prompted);
  const spending = context.budgets.length > 0 ? new Spending(options.budgets.store, context) : undefined;
  const watch = options.moderation?.watch(live, turn.turnId, controls.signal);
  const isBrief = shouldBeBrief(controls);
  const tools = toolsOfTurn(
    options.tools,
    { turnId: turn.turnId, trace: turn.trace, asker: toolAskerOf(context), isBrief },
    (doing) => {
      draft.show(doing);
      watch?.check();
    },
  );
  const isShown = platform.replyTraits.thinking === 'block';
  const masks = maskRulesOf(options.shown.masked, voice.language);
  const thought = new Thought(
    isShown && isReasoningShown(options.shown.thinking, preferences.thinking, newest.chat.kind),
    voice.language,
    masks,
  );
  const draft = new AnswerDraft({
    live: watch ?? live,
    voice,
    thought,
    masks,
    links: tools.links,
    sources: tools.sources,
    notes,
    startsAnew,
  });
  const answering = { read, isBrief, tools, draft, signal: watch?.signal ?? controls.signal, spending };
  const outcome = await streamAnswer(options, context, answering).catch((error: unknown) =>
    outcomeOfError(error, options, context, answering),
  );
  const verdict = (await watch?.judge(draft.isEmpty ? '' : outcome.text, outcome.thinking)) ?? 'allowed';
  if (verdict !== 'allowed') turn.trace.note('g', 'answer', verdict);
  const shown = verdict === 'allowed' ? outcome : outcomes.blocked('answer', verdict);
  // A part of the outcome, so that a worker that takes over charges the same.
  const budgets = spending?.charges(draft.isEmpty ? undefined : draft.tokenCount.tokens);
  return { ...shown, model: draft.model, rule, budgets, usage: usageOf(options, context, draft) };
}

function blockPrompt(
  { turn, rule }: AdmittedContext,
  outcomes: AnswerOutcomes,
  verdict: BlockedPromptError['verdict'],
): Outcome {
  turn.trace.note('g', 'prompt', verdict);
  return { ...outcomes.blocked('prompt', verdict), rule };
}

/** The outcome of an answer that an error ended. @throws an unexpected error */
async function outcomeOfError(
  error: unknown,
  options: AnswerQuestionOptions,
  context: AdmittedContext,
  { read: { outcomes, voice }, draft, spending }: Answering,
): Promise<Outcome> {
  const { question, turn, newest, controls } = context;
  // The verdict on the answer replaces it.
  if (error instanceof BlockedAnswerError) return outcomes.refused('');
  if (error instanceof BlockedPromptError) return blockPrompt(context, outcomes, error.verdict);
  if (error instanceof BudgetUsedUpError) {
    turn.trace.note('r', 'budget');
    return outcomes.refused(tellUsedUp(error.usedUp, voice, newest.chat.kind === 'private'));
  }
  if (controls.signal.reason === 'stopped') return withThinking(outcomes.finished(draft.end('stopped')), draft);
  if (error instanceof ImageRefusedError) {
    turn.trace.note('r', 'image');
    return outcomes.refused(imageRefusal(question, error));
  }
  if (!(error instanceof ChatError)) {
    await giveBack(options, context, spending);
    throw error;
  }
  turn.trace.note('x', error.code);
  return draft.isEmpty ? outcomes.failed(error, draft) : outcomes.finished(draft.end('truncated'));
}

/** Settles the budgets after an unexpected error, unless another worker has taken over: it uses the same reservation. */
async function giveBack(
  { budgets }: Pick<AnswerQuestionOptions, 'budgets'>,
  { turn, controls }: AdmittedContext,
  spending: Spending | undefined,
): Promise<void> {
  const charges = isSuperseded(controls.signal) ? undefined : spending?.charges(undefined);
  if (charges) await budgets.settle(turn.turnId, charges);
}

/** An answer that is being generated. */
interface Answering {
  read: ReadQuestion;
  /** Whether the answer must be short, because others are waiting. */
  isBrief: boolean;
  tools: TurnTools;
  draft: AnswerDraft;
  /** Of the turn, also aborted if the answer is blocked. */
  signal: AbortSignal;
  /** Absent without budgets. */
  spending: Spending | undefined;
}

/** @throws ChatError, ImageRefusedError, or the signal's reason */
async function streamAnswer(
  options: AnswerQuestionOptions,
  context: AdmittedContext,
  { read, isBrief, tools, draft, signal, spending }: Answering,
): Promise<Outcome> {
  const { newest, turn, models: allowed } = context;
  const { budgetTokens } = options.prompt;
  const personId = personIdOf(newest, newest.sender.userId);
  const { earlier, chosen, build } = await inStep('prompt', () =>
    buildPrompt(options, context, { read, isBrief, declared: tools.declared, draft }),
  );

  const call: Call = {
    model: chosen.model,
    tools: chosen.tools,
    trace: turn.turnId,
    thinking: context.preferences.thinking ?? context.scene?.thinking,
    // Identifies questions of the same account and reveals nothing else.
    user: options.sendsUser
      ? options.keyRing.pseudonym('chat-user', context.account?.accountId ?? personId)
      : undefined,
    waitPolicy: waitPolicyOf(turn, options.maxAgeMs, (reason) =>
      draft.show(localizeForChat(TURN_TEXTS[WAIT_TEXTS[reason]], read.voice)),
    ),
    // A worker that has lost its turn must not pay for an answer that nobody will see.
    beforeCall: () => context.controls.confirmClaim(),
    onResponseStart: () => context.live.prepare(),
    maxAnswerChars: isBrief ? BRIEF_ANSWER_CHARS : undefined,
  };
  const reserve =
    spending &&
    (async (promptTokens: number) => {
      const near = await spending.reserve(chosen.model, promptTokens);
      if (newest.chat.kind === 'private') for (const line of tellNear(near, read.voice)) draft.note(line);
    });
  const asking = { call, build, allowed, maxTokens: chosen.maxTokens, chat: tools.chat, draft, reserve };
  const droppedTurns = await callModel(options, asking, signal);

  const answer = draft.end();
  const outcome = read.outcomes.finished(answer);
  // Requested after the answer is complete, so that the answer does not wait for it.
  if (outcome.kind === 'answered' && !answer.startsAnew && !isBrief) {
    const missing = summaryRequest({ turn, personId }, earlier, { droppedTurns, budgetTokens });
    if (missing) withoutSpan(() => options.requestSummary(missing));
  }
  return withThinking(outcome, draft);
}

function withThinking(outcome: Outcome, draft: AnswerDraft): Outcome {
  const { thinking } = draft.finalView();
  return thinking === undefined ? outcome : { ...outcome, thinking };
}

interface Prompting {
  read: ReadQuestion;
  isBrief: boolean;
  declared: readonly ToolDeclaration[];
  draft: AnswerDraft;
}

/** Gathers the material of the prompt, and chooses the model that can read it. @throws ImageRefusedError, BlockedPromptError */
async function buildPrompt(
  options: AnswerQuestionOptions,
  context: AdmittedContext,
  { read, isBrief, declared, draft }: Prompting,
): Promise<{ earlier: PromptMaterial['earlier']; chosen: ChosenModel; build(size: PromptSize): FittedPrompt }> {
  const { question, newest, models: allowed } = context;
  const { budgetTokens, timeZone } = options.prompt;
  const { material, threadNotes } = await gatherMaterial(options, context, read, (status) => draft.show(status));
  if (material.earlier.ended) draft.startOver(material.earlier.ended);
  if ((await read.thread)?.kind === 'unread') draft.note(localizeForChat(THREAD_TEXTS.unread, read.voice));
  for (const note of threadNotes) draft.note(note);

  const chosen = chooseModel(options, { allowed, language: question.language, declared }, material);
  draft.model = chosen.model;
  if (chosen.note !== undefined) draft.note(chosen.note);
  const systemPrompt = sceneSystemPrompt(context.scene, options.prompt.systemPrompt);
  const build = await preparePrompt(material, {
    systemPrompt: isBrief ? briefPrompt(systemPrompt) : systemPrompt,
    chatKind: newest.chat.kind,
    nowMs: options.nowMs(),
    timeZone,
    language: question.language,
    tools: chosen.tools,
    seesImages: chosen.seesImages,
    maxTokens: chosen.maxTokens,
    conversationTokens: budgetTokens,
  });
  return { earlier: material.earlier, chosen, build };
}

/** The model that answers, and what it can do. */
interface ChosenModel {
  model: string;
  /** Note next to the answer when a model other than the usual one answers. */
  note?: string;
  seesImages: boolean;
  /** Maximum tokens of its prompt. */
  maxTokens: number;
  /** The tools that it may call. */
  tools: readonly ToolDeclaration[];
}

function chooseModel(
  { models: { catalog }, prompt: { budgetTokens, maxTokens: limitTokens } }: AnswerQuestionOptions,
  { allowed, language, declared }: { allowed: Models; language: Language; declared: readonly ToolDeclaration[] },
  { current, earlierImages, files }: PromptMaterial,
): ChosenModel {
  const hasScans = files.some(({ pictures }) => pictures.some(({ isScan }) => isScan));
  const hasImages = hasScans || current.images.length + earlierImages.size > 0;
  const picked = pickModel(catalog, { allowed, language }, hasImages);
  const { seesImages, callsTools } = catalog.of(picked.model);
  const maxTokens = Math.min(promptRoom(catalog.of(picked.model), budgetTokens), limitTokens ?? Infinity);
  return { ...picked, seesImages, maxTokens, tools: callsTools ? declared : [] };
}

/** A request to the model apart from its messages. */
type Call = Omit<ChatRequest, 'messages' | 'fallbackModel'>;

interface Asking {
  call: Call;
  allowed: Models;
  maxTokens: number;
  build(size: PromptSize): FittedPrompt;
  /** Runs the calls of tools. */
  chat: TurnTools['chat'];
  draft: AnswerDraft;
  reserve: ((promptTokens: number) => Promise<void>) | undefined;
}

/** Calls the model. @returns the earlier turns that the first prompt omitted. @throws ChatError */
async function callModel(
  { models, prompt: { sizes } }: AnswerQuestionOptions,
  { call, allowed, maxTokens, build, chat, draft, reserve }: Asking,
  signal: AbortSignal,
): Promise<readonly HistoryTurn[]> {
  // A prompt rebuilt with a smaller budget omits turns that the prompt of the next question includes again.
  let droppedTurns: readonly HistoryTurn[] | undefined;
  await retryOnContextLength(
    {
      chat,
      sizes,
      maxTokens,
      model: call.model,
      reserve,
      build(size) {
        const { prompt, cutNotes } = build(size);
        draft.noteCuts(cutNotes);
        droppedTurns ??= prompt.droppedTurns;
        return prompt;
      },
      request(messages) {
        draft.tokenCount.recordPrompt(messages, sizes.factorOf(call.model));
        const fallbackModel = fallbackFor(models, allowed, { model: call.model, messages });
        return { ...call, messages, fallbackModel };
      },
      onFreshStart: () => draft.startOver('startedAfresh'),
    },
    signal,
    (event) => draft.addEvent(event),
  );
  return droppedTurns ?? [];
}

/** Facts available to tools: the user as identified by the sign-in gate, and the place. */
function toolAskerOf({ account, newest: { chat }, question, scene }: AdmittedContext): ToolAsker {
  const place = { kind: chat.kind, id: chat.id };
  return { person: account, place, language: question.language, tools: scene?.tools, knowledge: scene?.knowledge };
}

/** Usage of the question, written by the commit. A question that reached no model has no usage. */
function usageOf(
  { nowMs, models, prompt: { timeZone }, tools: { report } }: AnswerQuestionOptions,
  { turn, newest, account }: AdmittedContext,
  { tokenCount: { use }, model = '' }: Pick<AnswerDraft, 'tokenCount' | 'model'>,
): Outcome['usage'] {
  const tokens = use.prompt + use.completion;
  if (tokens === 0) return undefined;
  const cost = costOf(use, models.catalog.of(model).price);
  if (cost) report.costIncurred({ model, cost });
  const { partition } = turn.conversation;
  const place = { partition, personId: personIdOf(newest, newest.sender.userId), nowMs: nowMs(), timeZone };
  const origin = { model, department: account?.department ?? '' };
  return usageChange(place, { questions: turn.messages.length, tokens, cost }, origin);
}
