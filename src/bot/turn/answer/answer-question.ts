import type { NowMs } from '../../../shared/clock.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { ChatError } from '../../model/chat-error.ts';
import { promptRoom } from '../../../shared/models/model-catalog.ts';
import type { EndReason, OnChatEvent } from '../../model/chat-types.ts';
import { buildPrompt } from '../conversation/build-prompt.ts';
import type { PromptSizes } from '../conversation/prompt-sizes.ts';
import { usageChange } from '../conversation/usage-store.ts';
import type { MediaStore } from '../conversation/images/media-store.ts';
import { personIdOf, type GroupScope } from '../../domain/conversation.ts';
import { promptIn } from '../../policy/scenes.ts';
import { showsNothing } from '../../platforms/shows-nothing.ts';
import type { AnswerState } from './answer-state.ts';
import { askWithinLimits, type AskWithinLimits } from './retry-on-context-length.ts';
import { sourcesBelow } from './list-sources.ts';
import { pickModel } from './pick-model.ts';
import { declarationTokens } from './declaration-tokens.ts';
import { earlierSummary, summaryRequest, type SummaryRequest } from '../prompt/earlier-summary.ts';
import { earlierTurns } from '../prompt/earlier-turns.ts';
import { fallbackFor, fallbackNote, type FallbackOptions } from './fallback-model.ts';
import { piecesFor } from '../files/rank-chunks.ts';
import { fitFiles, type CutFile } from '../files/fit-attachments.ts';
import { readEarlierFiles } from '../files/read-files.ts';
import { cutNote } from '../files/tell-files.ts';
import { readQuestionFiles } from './question-files.ts';
import { ImageRefusedError, MOST_IMAGES } from '../images/fetch-images.ts';
import { imageObstacle, imageRefusal, type SightOptions } from '../images/refuse-images.ts';
import { readImages } from '../images/read-images.ts';
import type { SignInMode } from '../turn-ports.ts';
import { TokenCount } from './count-tokens.ts';
import type { AdmittedContext, TurnContext } from '../turn-context.ts';
import { sayTo } from '../translate.ts';
import { unreadNotes, unreadRefusal } from '../tell-unread.ts';
import { TURN_TEXTS } from '../../i18n/turn-texts.ts';
import { Thought, type ThoughtOptions } from './reasoning.ts';
import { failedTurnHistory, speakerTagOf, turnHistory } from '../prompt/turn-history.ts';
import { toolsOfTurn, type TurnToolOptions, type TurnTools } from './turn-tools.ts';
import type { AnswerQuestion, Outcome } from '../outcome.ts';
import { patienceOf, WAIT_TEXTS } from './patience.ts';
import { BRIEF_REQUEST, briefPrompt, shouldBeBrief } from './load-shedding.ts';

/** What a prompt is made of, and how much of it. */
export interface PromptRules {
  systemPrompt: string;
  /** Tokens that the prompt may take, where the model takes so many. */
  budgetTokens: number;
  sizes: PromptSizes;
  groupScope: GroupScope;
  /** Whose date the prompt names, and whose days use counts for. */
  timeZone: string;
  /** After so long without a question a conversation has ended; milliseconds, 0 for never. */
  idleMs: number;
}

export interface AnswerQuestionOptions extends ThoughtOptions {
  models: FallbackOptions & SightOptions;
  tools: TurnToolOptions;
  prompt: PromptRules;
  images: {
    mediaStore: MediaStore;
    /** Whether people sign in: pictures of those who have not share one budget. */
    mode: SignInMode;
  };
  keyRing: KeyRing;
  /** The time of day, for the prompt's date and the day that use counts for. */
  nowMs: NowMs;
  /** Whether the chat service is told by a pseudonym on whose behalf it is asked. */
  sendsUser: boolean;
  /** Has a conversation summed up later; must not throw or wait. */
  requestSummary(request: SummaryRequest): void;
}

/** Of a prompt's room, for what files say; the rest is for the conversation. */
const FILES_SHARE = 0.6;

interface Answering {
  context: AdmittedContext;
  state: AnswerState;
}

/** How the answer ended, once its events are read. */
type Ending = 'whole' | 'length' | 'truncated' | 'stopped';

/** Asks the model and lets its answer grow in the live reply. What was shown is kept, whatever happens (SECURITY.md no-second-beginning). */
export function createAnswerQuestion(options: AnswerQuestionOptions): AnswerQuestion {
  return async (unread) => {
    const { question, live, turn } = unread;
    const isBare = question.text === '' && question.images.length === 0 && question.quotedText === undefined;
    if (isBare && question.files.length === 0) return { kind: 'refused', text: unreadRefusal(question) };
    const obstacle = imageObstacle(options.models, unread);
    if (obstacle !== undefined) return refused(options, unread, obstacle);
    // After a sign-in the reply still shows the invitation; say at once that its question is being answered.
    const isReleased = turn.wasHeldInGroup || (turn.messages.at(-1)?.acceptedAtMs ?? 0) > turn.startedAtMs;
    if (isReleased) live.show({ text: '', status: sayTo(unread, TURN_TEXTS.released) });

    const spent = new TokenCount();
    const state: AnswerState = { notes: unreadNotes(question), startsAnew: unread.replaced?.startsAnew ?? false };
    const read = await readQuestionFiles({ ...options.images, catalog: options.models.catalog }, unread, isBare);
    if (read.kind === 'stopped') return finished(options, { context: unread, state }, { text: '', ending: 'stopped' });
    const { context } = read;
    if (read.kind === 'refused') return refused(options, context, read.text);
    state.notes.push(...read.notes);
    if (read.kind !== 'read') return finished(options, { context, state }, { text: read.text, ending: 'whole' });
    state.files = read.files;
    const outcome = await streamAnswer(options, context, { state, spent });
    // Once the answer is whole, so that it waits for nothing of this.
    if (state.missing && outcome.kind === 'answered' && !state.startsAnew) options.requestSummary(state.missing);
    return { ...outcome, model: state.model, rule: context.rule, ...usageOf(options, context, spent) };
  };
}

async function streamAnswer(
  options: AnswerQuestionOptions,
  context: AdmittedContext,
  { state, spent }: { state: AnswerState; spent: TokenCount },
): Promise<Outcome> {
  const {
    live,
    question: { language },
  } = context;
  let links: TurnTools['links'] | undefined;
  const shownText = () => links?.text ?? '';
  let ending: Ending = 'truncated';
  const thought = new Thought(options, context);
  const show = (doing?: string) => {
    const text = shownText();
    live.show({ text, ...thought.liveView(text, state.notes, doing) });
  };
  const finish = (text: string, how: Ending) => finished(options, { context, state }, { text, ending: how });
  try {
    const tools = toolsOfTurn(options.tools, context, show);
    ({ links } = tools);
    state.sources = tools.sources;
    await ask(options, context, { tools, state, spent, show }, (event) => {
      spent.heard(event);
      if (event.type === 'text') tools.links.add(event.delta);
      else if (event.type === 'retract') tools.links.retract();
      else if (event.type === 'reasoning') thought.add(event.delta);
      else if (event.type === 'fallback') {
        state.model = event.model;
        return note({ context, state }, fallbackNote(event.model, language), shownText());
      } else if (event.type === 'end') ending = endingOf(event.reason);
      if (event.type === 'text' || event.type === 'reasoning') show();
    });
    return { ...finish(tools.links.whole(), ending), ...thought.finalView() };
  } catch (error) {
    if (context.controls.signal.reason === 'stopped')
      return { ...finish(links?.whole() ?? '', 'stopped'), ...thought.finalView() };
    if (error instanceof ImageRefusedError) return refused(options, context, imageRefusal(context, error));
    if (!(error instanceof ChatError)) throw error;
    if (links && shownText() !== '') return finish(links.whole(), 'truncated');
    return {
      kind: 'failed',
      text: sayTo(context, TURN_TEXTS[textFor(error)]),
      history: failedTurnHistory(options.keyRing, context, state),
    };
  }
}

interface Asking {
  tools: TurnTools;
  state: AnswerState;
  spent: TokenCount;
  /** Shows what is going on, beside the text so far. */
  show(doing?: string): void;
}

async function ask(
  options: AnswerQuestionOptions,
  context: AdmittedContext,
  { tools: { chat, declared }, state, spent, show }: Asking,
  onEvent: OnChatEvent,
): Promise<void> {
  const { question, newest, turn, controls } = context;
  const isBrief = shouldBeBrief(context);
  const { keyRing } = options;
  const { sizes, groupScope, idleMs, budgetTokens, timeZone } = options.prompt;
  const { catalog } = options.models;
  const earlier = earlierTurns({ keyRing, groupScope, idleMs }, context);
  const { turns, hasEnded } = earlier;
  const summary = earlierSummary({ keyRing, groupScope }, context, earlier);
  const { images, earlierImages } = await readImages({ ...options.images, catalog }, context, turns);
  if (hasEnded) startAnew({ context, state }, earlier.isOtherScene ? 'otherScene' : 'conversationEnded');
  const current = {
    text: question.text,
    images,
    quote: question.quotedText,
    speakerTag: newest.chat.kind === 'group' ? speakerTagOf(context) : undefined,
  };
  const ownPrompt = promptIn(context.scene, options.prompt.systemPrompt);
  const systemPrompt = isBrief ? briefPrompt(ownPrompt) : ownPrompt;
  const ownFiles = state.files ?? [];
  const earlierFiles = await readEarlierFiles(options.images, context, { turns, own: ownFiles });
  const files = [...earlierFiles.files, ...ownFiles];
  const filesAtHand = earlierFiles.mediaIds;
  const place = { chatKind: newest.chat.kind, nowMs: options.nowMs(), timeZone };
  const prompt = { systemPrompt, current, earlierImages, filesAtHand, ...place };
  const hasScans = files.some(({ pictures }) => pictures.some(({ isScan }) => isScan));
  const { model, note: whySo } = pickModel(options.models, context, hasScans || images.length + earlierImages.size > 0);
  const shown = catalog.of(model).seesImages ? files : files.map((file) => ({ ...file, pictures: [] }));
  state.model = model;
  if (whySo !== undefined) note({ context, state }, whySo);
  const tools = catalog.of(model).callsTools ? declared : [];
  const mostTokens = promptRoom(catalog.of(model), budgetTokens);
  const thinking = context.preferences.thinking ?? context.scene?.thinking;
  const user = options.sendsUser ? askerPseudonym(keyRing, context) : undefined;
  const patience = patienceOf(context, (reason) => show(sayTo(context, TURN_TEXTS[WAIT_TEXTS[reason]])));
  const request: AskWithinLimits['request'] = (messages) => {
    const own = { trace: turn.turnId, patience, began: () => context.live.prepare() };
    const asked = { model, messages, tools, thinking, user, ...own };
    spent.asked(messages, sizes.factorOf(model));
    const fallbackModel = fallbackFor(options.models, context.models, asked);
    return { ...asked, fallbackModel, ...(isBrief ? BRIEF_REQUEST : {}) };
  };
  const filesChars = shown.reduce((sum, { parts }) => parts.reduce((all, { text }) => all + text.length, sum), 0);
  // What surely fits needs no choice: a character is about one token at most.
  const mayBeCut = filesChars > (mostTokens * FILES_SHARE) / 2;
  const pieces = mayBeCut ? await piecesFor(shown, `${question.text}\n${question.quotedText ?? ''}`) : [];
  let mayRequest = !isBrief;
  const build: AskWithinLimits['build'] = ({ isFresh, ...size }) => {
    const { tokenFactor } = size;
    const roomTokens = size.budgetTokens * FILES_SHARE;
    const { language } = question;
    const mostPictures = MOST_IMAGES - images.length;
    const fit = fitFiles(shown, { roomTokens, tokenFactor, mostPictures, pieces, language });
    tellCuts({ context, state }, fit.cut);
    const built = buildPrompt({
      ...prompt,
      ...size,
      current: { ...current, files: fit.files },
      budgetTokens: size.budgetTokens - declarationTokens(tools, size.tokenFactor),
      turns: isFresh ? [] : turns,
      summary: isFresh ? undefined : summary?.text,
    });
    // A prompt that is made once more with less misses turns that the next question's prompt has again.
    if (mayRequest) state.missing = summaryRequest({ groupScope, budgetTokens }, context, { ...built, turns }, summary);
    mayRequest = false;
    return built;
  };
  const startsFresh = () => startAnew({ context, state }, 'startedAfresh');
  return askWithinLimits({ chat, sizes, mostTokens, model, request, build, startsFresh }, controls.signal, onEvent);
}

/** A prompt that is made once more with less holds less of the files: only that is told. */
function tellCuts({ context, state }: Answering, cut: readonly CutFile[]): void {
  const lines = cut.map((file) => cutNote(file, context.question.language));
  const stale = (state.cutLines ?? []).filter((line) => !lines.includes(line));
  for (const line of stale) state.notes.splice(state.notes.indexOf(line), 1);
  state.cutLines = lines;
  for (const line of lines) note({ context, state }, line);
}

/** What was said before is no part of this conversation any more; the person is told so apart from the answer. */
function startAnew({ context, state }: Answering, why: 'conversationEnded' | 'otherScene' | 'startedAfresh'): void {
  state.startsAnew = true;
  note({ context, state }, sayTo(context, TURN_TEXTS[why]));
}

/** Tells the person something about the answer that is being made. @param text what of it is shown already */
function note({ context, state }: Answering, line: string, text = ''): void {
  // Each round of a question with tools may say the same.
  if (!state.notes.includes(line)) state.notes.push(line);
  context.live.show({ text, ...apart(state) });
}

/** What is shown apart from the text. */
function apart({ notes }: AnswerState): { status?: string } {
  return { status: notes.length === 0 ? undefined : notes.join('\n') };
}

/** Says that two questions are one account's, and nothing else of it. */
function askerPseudonym(keyRing: KeyRing, { account, newest }: TurnContext): string {
  return keyRing.pseudonym('chat-user', account?.accountId ?? personIdOf(newest, newest.sender.userId));
}

/** What the question cost, for the commit to write; a question that reached no model cost nothing. */
function usageOf(
  { nowMs, prompt: { timeZone } }: AnswerQuestionOptions,
  { turn, newest }: TurnContext,
  { tokens }: TokenCount,
): Pick<Outcome, 'usage'> {
  if (tokens === 0) return {};
  const personId = personIdOf(newest, newest.sender.userId);
  const { partition } = turn.conversation;
  const place = { partition, personId, nowMs: nowMs(), timeZone };
  return { usage: usageChange(place, { questions: turn.messages.length, tokens }) };
}

function endingOf(reason: EndReason): Ending {
  return reason === 'length' || reason === 'truncated' ? reason : 'whole';
}

function finished(
  { keyRing }: AnswerQuestionOptions,
  { context, state }: Answering,
  { text, ending }: { text: string; ending: Ending },
): Outcome {
  // An answer that is nothing but a thought shows nothing, and somebody waits.
  if (showsNothing(text)) {
    const empty = sayTo(context, TURN_TEXTS[ending === 'stopped' ? 'stopped' : 'emptyAnswer']);
    return {
      kind: ending === 'stopped' ? 'stopped' : 'failed',
      text: empty,
      history: failedTurnHistory(keyRing, context, state),
      stopServed: stopServed(context, ending),
    };
  }
  const isWhole = ending === 'whole';
  return {
    kind: ending === 'stopped' ? 'stopped' : isWhole ? 'answered' : 'interrupted',
    ...ended({ text, ending }, { context, state }),
    history: turnHistory(keyRing, context, {
      ...{ text, interrupted: !isWhole, startsAnew: state.startsAnew, sources: state.sources?.all },
    }),
    stopServed: stopServed(context, ending),
  };
}

/** The text as it is shown, with the sources that it cites. That it is not whole is said below it; who answered, and that the person stopped it, apart from it. */
function ended(
  { text, ending }: { text: string; ending: Ending },
  { context, state }: Answering,
): Pick<Outcome, 'text' | 'note'> {
  const said = [...state.notes, ...(ending === 'stopped' ? [sayTo(context, TURN_TEXTS.stopped)] : [])].join('\n');
  const note = said === '' ? undefined : said;
  const below = sourcesBelow(state.sources?.all ?? [], context.question.language);
  if (ending === 'whole' || ending === 'stopped') return { text: text + below, note };
  const mark = sayTo(context, TURN_TEXTS[ending === 'length' ? 'lengthReached' : 'interrupted']);
  return { text: `${text}\n\n${mark}${below}`, note };
}

/** A question that cannot be put to a model as it is; it stays the last one, so that /retry does not ask another. */
function refused(options: AnswerQuestionOptions, context: TurnContext, text: string): Outcome {
  return { kind: 'refused', text, history: failedTurnHistory(options.keyRing, context) };
}

/** Read from the claim itself: the stop word came while the turn ran. */
function stopServed({ controls }: TurnContext, ending: Ending): number | undefined {
  return ending === 'stopped' ? controls.claim.stop.seq : undefined;
}

/** Which sentence a person reads for an error of the chat service; never the service's own words. */
function textFor({ code, openedBy = code }: ChatError): keyof typeof TURN_TEXTS {
  return TEXT_FOR[openedBy] ?? 'chatDown';
}

const TEXT_FOR: Partial<Record<ChatError['code'], keyof typeof TURN_TEXTS>> = {
  chat_rate_limited: 'chatBusy',
  chat_local_limit: 'chatBusy',
  chat_loading: 'chatLoading',
  chat_refused: 'chatOff',
  chat_quota_spent: 'chatOff',
  chat_unknown_model: 'chatOff',
  chat_content_filter: 'chatFiltered',
  chat_too_large: 'chatTooLong',
  chat_bad_request: 'chatRefusedQuestion',
};
