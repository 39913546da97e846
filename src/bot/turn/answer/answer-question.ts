import type { NowMs } from '../../../shared/clock.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { costOf } from '../../../shared/models/cost.ts';
import { localize, type Language } from '../../../shared/text/texts.ts';
import { inStep, withoutSpan } from '../../../shared/tracing/tracing.ts';
import { promptRoom } from '../../../shared/models/model-catalog.ts';
import { personIdOf } from '../../domain/conversation.ts';
import type { DeliveryId } from '../../domain/ids.ts';
import type { MaskKind } from '../../domain/mask-kinds.ts';
import type { BudgetCharge } from '../../domain/turn.ts';
import { unknownSlashWord } from '../../domain/slash-words.ts';
import { FILE_TEXTS } from '../../i18n/file-texts.ts';
import { localizeForChat, type Voice } from '../../i18n/say-typed.ts';
import { THREAD_TEXTS } from '../../i18n/thread-texts.ts';
import { TURN_TEXTS } from '../../i18n/turn-texts.ts';
import { ChatError } from '../../model/chat-error.ts';
import type { ChatRequest, ToolDeclaration } from '../../model/chat-types.ts';
import { isSuperseded } from '../../reply/turn-abort.ts';
import type { ThreadReading } from '../../platforms/platform.ts';
import type { Models } from '../../policy/policy.ts';
import { sceneSystemPrompt } from '../../policy/scenes.ts';
import type { ToolAsker } from '../../tools/tool.ts';
import type { HistoryTurn } from '../conversation/history.ts';
import type { MediaStore } from '../conversation/images/media-store.ts';
import { usageChange } from '../conversation/usage-store.ts';
import type { StoredFile } from '../files/kept-file.ts';
import {
  readEarlierFiles,
  readQuestionFiles,
  type QuestionFiles,
  type QuestionFilesOptions,
} from '../files/read-files.ts';
import { ImageRefusedError, imageSceneOf, type ImageScene } from '../images/fetch-images.ts';
import { readImages } from '../images/read-images.ts';
import { imageObstacle, imageRefusal } from '../images/refuse-images.ts';
import type { AnswerQuestion, Outcome } from '../outcome.ts';
import type { Question } from '../prompt/question.ts';
import { earlierConversation, summaryRequest, type SummaryRequest } from '../prompt/earlier-conversation.ts';
import {
  isInThread,
  languageOfThread,
  leaveOutListed,
  readThreadOf,
  seeThread,
  threadEntries,
  type SeenEntry,
} from '../prompt/thread-context.ts';
import { readThreadFiles } from '../prompt/thread-files.ts';
import { speakerTagOf } from '../prompt/turn-history.ts';
import { unreadNotes, unreadRefusal } from '../tell-unread.ts';
import { voiceOf } from '../translate.ts';
import type { AdmittedContext } from '../turn-context.ts';
import type { SignInMode } from '../turn-ports.ts';
import type { BudgetStore } from '../budgets/budget-store.ts';
import { BudgetUsedUpError, Spending } from '../budgets/spending.ts';
import { tellNear, tellUsedUp } from '../budgets/tell-budget.ts';
import { BlockedAnswerError, BlockedPromptError } from '../moderation/moderated-answer.ts';
import { maskRulesOf } from '../moderation/mask-rules.ts';
import type { Moderation } from '../moderation/moderation.ts';
import { AnswerDraft } from './answer-draft.ts';
import { createAnswerOutcomes, type AnswerOutcomes } from './answer-outcome.ts';
import { preparePrompt, type FittedPrompt, type PromptMaterial, type PromptRules } from './answer-prompt.ts';
import { BRIEF_ANSWER_CHARS, briefPrompt, shouldBeBrief } from './load-shedding.ts';
import { waitPolicyOf, WAIT_TEXTS } from './wait-policy.ts';
import { fallbackFor, firstThatSees, pickModel, type ModelOptions } from './pick-model.ts';
import { isReasoningShown, Thought, type ThinkingShown } from './reasoning.ts';
import { retryOnContextLength, type PromptSize } from './retry-on-context-length.ts';
import { toolsOfTurn, type TurnToolOptions, type TurnTools } from './turn-tools.ts';

export interface AnswerQuestionOptions {
  models: ModelOptions;
  tools: TurnToolOptions;
  prompt: PromptRules;
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
  keyRing: KeyRing;
  /** Wall clock, for the date in the prompt and the day that usage is counted for. */
  nowMs: NowMs;
  /** How long a question may wait for the chat service (SECURITY.md in-order). */
  maxAgeMs: number;
  budgets: {
    store: BudgetStore;
    /** Settles budgets outside a commit. */
    settle(turnId: DeliveryId, charges: readonly BudgetCharge[]): Promise<void>;
  };
  /** Absent if nothing is moderated. */
  moderation?: Moderation;
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

/** Somebody who mistypes a command reads where the commands are listed. */
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
interface ReadQuestion {
  scene: ImageScene;
  voice: Voice;
  /** Whether an allowed model accepts images. */
  seesImages: boolean;
  outcomes: AnswerOutcomes;
  files: readonly StoredFile[];
  thread: Promise<ThreadReading | undefined>;
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
  const judging = options.moderation?.judgePrompt(promptOf(question, read.files), turn.turnId, controls.signal);
  const prompted = await judging?.catch((error: unknown) => {
    if (controls.signal.reason === 'stopped') return 'stopped' as const;
    throw error;
  });
  if (prompted === 'stopped') return outcomes.finished({ text: '', ending: 'stopped', notes, sources: [], startsAnew });
  const blockPrompt = (verdict: BlockedPromptError['verdict']): Outcome => {
    turn.trace.note('g', 'prompt', verdict);
    return { ...outcomes.blocked('prompt', verdict), rule };
  };
  if (prompted !== undefined && prompted !== 'allowed') return blockPrompt(prompted);
  const spending = context.budgets.length > 0 ? new Spending(options.budgets.store, context) : undefined;
  const watch = options.moderation?.watch(live, turn.turnId, controls.signal);
  const isBrief = shouldBeBrief(controls);
  const tools = toolsOfTurn(
    options.tools,
    { turnId: turn.turnId, trace: turn.trace, asker: toolAskerOf(context), isBrief },
    (doing) => draft.show(doing),
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
  const signal = watch?.signal ?? controls.signal;
  const outcome = await streamAnswer(options, context, { read, isBrief, tools, draft, signal, spending }).catch(
    async (error: unknown): Promise<Outcome> => {
      // The verdict below replaces it.
      if (error instanceof BlockedAnswerError) return outcomes.refused('');
      if (error instanceof BlockedPromptError) return blockPrompt(error.verdict);
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
    },
  );
  const verdict = (await watch?.judge(draft.isEmpty ? '' : outcome.text, outcome.thinking)) ?? 'allowed';
  if (verdict !== 'allowed') turn.trace.note('g', 'answer', verdict);
  const shown = verdict === 'allowed' ? outcome : outcomes.blocked('answer', verdict);
  // A part of the outcome, so that a worker that takes over charges the same.
  const budgets = spending?.charges(draft.isEmpty ? undefined : draft.tokenCount.tokens);
  return { ...shown, model: draft.model, rule, budgets, usage: usageOf(options, context, draft) };
}

/** After an unexpected error. A worker that takes the turn over uses the same reservation. */
async function giveBack(
  { budgets }: Pick<AnswerQuestionOptions, 'budgets'>,
  { turn, controls }: AdmittedContext,
  spending: Spending | undefined,
): Promise<void> {
  const charges = isSuperseded(controls.signal) ? undefined : spending?.charges(undefined);
  if (charges) await budgets.settle(turn.turnId, charges);
}

/** What a person brings into the prompt: the words of the question, of quotes and of files. */
function promptOf(
  { text, quotedText = '' }: Pick<Question, 'text' | 'quotedText'>,
  files: readonly StoredFile[],
): string {
  const ofFiles = files.flatMap(({ name, parts }) => [name, ...parts.map((part) => part.text)]);
  return [text, quotedText, ...ofFiles].join('\n').trim();
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
  await judgeThread(options, context, material);
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

/** Checks what a thread brings into the prompt, because its messages may be the question. @throws BlockedPromptError */
async function judgeThread(
  { moderation }: Pick<AnswerQuestionOptions, 'moderation'>,
  { turn, controls }: AdmittedContext,
  { thread = [], files }: PromptMaterial,
): Promise<void> {
  const said = thread.flatMap((entry) => (entry.kind === 'message' ? [entry.text] : []));
  const shared = files.filter((file) => 'from' in file);
  const text = promptOf({ text: said.join('\n'), quotedText: undefined }, shared);
  const verdict = text === '' ? undefined : await moderation?.judgePrompt(text, turn.turnId, controls.signal);
  if (verdict !== undefined && verdict !== 'allowed') throw new BlockedPromptError(verdict);
}

/** Gathers what the prompt may contain. @throws ImageRefusedError */
async function gatherMaterial(
  options: AnswerQuestionOptions,
  context: AdmittedContext,
  { scene, voice, seesImages, files, thread }: ReadQuestion,
  showStatus: (status: string) => void,
): Promise<{ material: PromptMaterial; threadNotes: readonly string[] }> {
  const { question, newest, controls } = context;
  const { groupScope, idleMs, timeZone } = options.prompt;
  const earlier = earlierConversation({ keyRing: options.keyRing, groupScope, idleMs }, context);
  const { turns } = earlier;
  const { images, earlierImages } = await readImages(
    scene,
    { own: question.images, turns, seesImages },
    controls.signal,
  );
  const speakerTag = newest.chat.kind === 'group' ? speakerTagOf(newest) : undefined;
  const asked = `${question.text}\n${question.quotedText ?? ''}`;
  const earlierFiles = await readEarlierFiles(scene, { turns, speakerTag, own: files, question: asked });
  const reading = await thread;
  const isBare =
    question.text === '' && images.length === 0 && question.quotedText === undefined && reading !== undefined;
  const bareText = localize(THREAD_TEXTS.bareQuestion, languageOfThread(reading) ?? question.language);
  const { language } = question;
  const { seen, leftOut } = await readableThread(options, context, { reading, earlier });
  // A bare mention asks about the thread.
  if (isBare && leftOut > 0 && !seen.some(({ kind }) => kind === 'message')) throw new BlockedPromptError('blocked');
  const shared = await readThreadFiles(
    scene,
    {
      seen,
      newest,
      question: asked.trim(),
      language,
      seesImages,
      known: {
        files: [...earlierFiles.files, ...files],
        turns,
        earlierImages,
        filesAtHand: earlierFiles.atHand,
      },
      showStatus: () => showStatus(localizeForChat(FILE_TEXTS.reading, voice)),
    },
    controls.signal,
  );
  const material = {
    earlier,
    current: { text: isBare ? bareText : question.text, images, quote: question.quotedText, speakerTag },
    thread:
      reading?.kind === 'read'
        ? threadEntries(seen, { names: reading.names, shown: shared.shown, timeZone, language })
        : undefined,
    earlierImages,
    files: [...shared.files, ...earlierFiles.files, ...files],
    filesAtHand: shared.filesAtHand,
  };
  const listedNote = leftOut > 0 ? [localizeForChat(THREAD_TEXTS.listed, voice)] : [];
  return { material, threadNotes: [...listedNote, ...shared.notes] };
}

/** The thread without messages that must not reach a model, and how many those are. */
async function readableThread(
  { moderation }: Pick<AnswerQuestionOptions, 'moderation'>,
  context: AdmittedContext,
  { reading, earlier }: { reading: ThreadReading | undefined; earlier: PromptMaterial['earlier'] },
): Promise<{ seen: readonly SeenEntry[]; leftOut: number }> {
  const all = reading?.kind === 'read' ? seeThread(reading, context, earlier) : [];
  if (!moderation) return { seen: all, leftOut: 0 };
  const seen = await leaveOutListed(all, (text) => moderation.hasWord(text, context.controls.signal));
  return { seen, leftOut: all.length - seen.length };
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
  { tokenCount: { tokens, use }, model = '' }: Pick<AnswerDraft, 'tokenCount' | 'model'>,
): Outcome['usage'] {
  if (tokens === 0) return undefined;
  const cost = costOf(use, models.catalog.of(model).price);
  if (cost) report.costIncurred({ model, cost });
  const { partition } = turn.conversation;
  const place = { partition, personId: personIdOf(newest, newest.sender.userId), nowMs: nowMs(), timeZone };
  const origin = { model, department: account?.department ?? '' };
  return usageChange(place, { questions: turn.messages.length, tokens, cost }, origin);
}
