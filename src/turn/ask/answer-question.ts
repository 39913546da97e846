import type { NowMs } from '../../base/clock.ts';
import type { KeyRing } from '../../base/key-ring.ts';
import { ChatError } from '../../chat/chat-error.ts';
import type { ChatRequest, EndReason, OnChatEvent } from '../../chat/chat-types.ts';
import { buildPrompt } from '../../conversation/build-prompt.ts';
import type { PromptSizes } from '../../conversation/prompt-sizes.ts';
import { usageChange } from '../../conversation/usage-store.ts';
import type { MediaStore } from '../../conversation/images/media-store.ts';
import { personIdOf, type GroupScope } from '../../domain/conversation.ts';
import { showsNothing } from '../../platforms/shows-nothing.ts';
import { askWithinLimits, type AskWithinLimits } from './ask-within-limits.ts';
import { chooseModel } from './choose-model.ts';
import { declarationTokens } from './declaration-tokens.ts';
import { earlierSummary, summaryRequest, type SummaryRequest } from '../prompt/earlier-summary.ts';
import { earlierTurns } from '../prompt/earlier-turns.ts';
import { fallbackFor, fallbackNote, type FallbackOptions } from './fallback-model.ts';
import { ImageRefusedError } from '../images/fetch-images.ts';
import { imageObstacle, imageRefusal, type SightOptions } from '../images/refuse-images.ts';
import { readImages } from '../images/read-images.ts';
import type { SignInMode } from '../turn-ports.ts';
import { TokenCount } from './count-tokens.ts';
import type { AdmittedScene, TurnScene } from '../run-turn.ts';
import { sayTo } from '../say-to.ts';
import { TURN_TEXTS } from '../../texts/turn-texts.ts';
import { Thought, type ThoughtOptions } from './thought.ts';
import { failedTurnHistory, speakerTagOf, turnHistory } from '../prompt/turn-history.ts';
import { toolsOfTurn, type TurnToolOptions, type TurnTools } from './turn-tools.ts';
import type { Outcome } from '../outcome.ts';
import { BRIEF_REQUEST, briefPrompt, shouldBeBrief } from './load-shedding.ts';

export interface AnswerQuestionOptions extends FallbackOptions, SightOptions, TurnToolOptions, ThoughtOptions {
  keyRing: KeyRing;
  /** The time of day, for the prompt's date and the day that use counts for. */
  nowMs: NowMs;
  mediaStore: MediaStore;
  /** Whether people sign in: pictures of those who have not share one budget. */
  mode: SignInMode;
  groupScope: GroupScope;
  systemPrompt: string;
  sizes: PromptSizes;
  /** Tokens that the prompt may take. */
  promptBudgetTokens: number;
  /** After so long without a question a conversation has ended; milliseconds, 0 for never. */
  idleMs: number;
  /** Has a conversation summed up later; must not throw or wait. */
  wishSummary(request: SummaryRequest): void;
}

export type AnswerQuestion = (scene: AdmittedScene) => Promise<Outcome>;

/** How the answer ended, once its events are read. */
type Ending = 'whole' | 'length' | 'truncated' | 'stopped';

/** Asks the model and lets its answer grow in the live reply. What was shown is kept, whatever happens (SECURITY.md no-second-beginning). */
export function createAnswerQuestion(options: AnswerQuestionOptions): AnswerQuestion {
  return async (scene) => {
    const { question, live, turn } = scene;
    if (question.text === '' && question.images.length === 0)
      return { kind: 'refused', text: sayTo(scene, TURN_TEXTS.unsupported) };
    const obstacle = imageObstacle(options, scene);
    if (obstacle !== undefined) return refused(options, scene, obstacle);
    // After a sign-in the reply still shows the invitation; say at once that its question is being answered.
    const isReleased = turn.wasHeldInGroup || (turn.messages.at(-1)?.acceptedAtMs ?? 0) > turn.startedAtMs;
    if (isReleased) live.show({ text: '', status: sayTo(scene, TURN_TEXTS.released) });

    const spent = new TokenCount();
    const outcome = await streamAnswer(options, scene, spent);
    // Once the answer is whole, so that it waits for nothing of this.
    if (scene.wish && outcome.kind === 'answered' && !scene.startsAnew) options.wishSummary(scene.wish);
    return { ...outcome, ...usageOf(options, scene, spent) };
  };
}

async function streamAnswer(options: AnswerQuestionOptions, scene: AdmittedScene, spent: TokenCount): Promise<Outcome> {
  const {
    live,
    question: { language },
  } = scene;
  let links: TurnTools['links'] | undefined;
  const shownText = () => links?.text ?? '';
  let ending: Ending = 'truncated';
  const thought = new Thought(options, scene);
  const show = (doing?: string) => {
    const text = shownText();
    live.show({ text, ...thought.liveView(text, scene.notes, doing) });
  };
  try {
    const tools = toolsOfTurn(options, scene, show);
    ({ links } = tools);
    await ask(options, scene, { tools, spent }, (event) => {
      spent.heard(event);
      if (event.type === 'text') tools.links.add(event.delta);
      else if (event.type === 'reasoning') thought.add(event.delta);
      else if (event.type === 'fallback') return note(scene, fallbackNote(event.model, language), shownText());
      else if (event.type === 'end') ending = endingOf(event.reason);
      if (event.type === 'text' || event.type === 'reasoning') show();
    });
    return { ...finished(options, scene, { text: tools.links.whole(), ending }), ...thought.finalView() };
  } catch (error) {
    if (scene.controls.signal.reason === 'stopped')
      return { ...finished(options, scene, { text: links?.whole() ?? '', ending: 'stopped' }), ...thought.finalView() };
    if (error instanceof ImageRefusedError) return refused(options, scene, imageRefusal(scene, error));
    if (!(error instanceof ChatError)) throw error;
    if (links && shownText() !== '') return finished(options, scene, { text: links.whole(), ending: 'truncated' });
    return {
      kind: 'failed',
      text: sayTo(scene, TURN_TEXTS[textFor(error)]),
      history: failedTurnHistory(options.keyRing, scene),
    };
  }
}

async function ask(
  options: AnswerQuestionOptions,
  scene: AdmittedScene,
  { tools: { chat, declared: tools }, spent }: { tools: TurnTools; spent: TokenCount },
  onEvent: OnChatEvent,
): Promise<void> {
  const { question, newest, controls } = scene;
  const isBrief = shouldBeBrief(scene);
  const earlier = earlierTurns(options, scene);
  const { turns, hasEnded } = earlier;
  const summary = earlierSummary(options, scene, earlier);
  const { images, earlierImages } = await readImages(options, scene, turns);
  if (hasEnded) startAnew(scene, 'conversationEnded');
  const current = {
    text: question.text,
    images,
    ...(question.quotedText === undefined ? {} : { quote: question.quotedText }),
    ...(newest.chat.kind === 'group' ? { speakerTag: speakerTagOf(scene) } : {}),
  };
  const { sizes, promptBudgetTokens: mostTokens } = options;
  const systemPrompt = isBrief ? briefPrompt(options.systemPrompt) : options.systemPrompt;
  const prompt = { systemPrompt, current, earlierImages, chatKind: newest.chat.kind, nowMs: options.nowMs() };
  const { model, note: whySo } = chooseModel(options, scene, images.length + earlierImages.size > 0);
  if (whySo !== undefined) note(scene, whySo);
  const request: AskWithinLimits['request'] = (messages) => {
    const asked = { model, messages, tools, began: () => scene.live.prepare(), ...thinkingOf(scene) };
    spent.asked(messages, sizes.factorOf(model));
    const fallbackModel = fallbackFor(options, scene.models, asked);
    return { ...asked, fallbackModel, ...(isBrief ? BRIEF_REQUEST : {}) };
  };
  let mayWish = !isBrief;
  const build: AskWithinLimits['build'] = ({ isFresh, ...size }) => {
    const built = buildPrompt({
      ...prompt,
      ...size,
      budgetTokens: size.budgetTokens - declarationTokens(tools, size.tokenFactor),
      turns: isFresh ? [] : turns,
      ...(isFresh ? {} : { summary: summary?.text }),
    });
    // A prompt that is made once more with less misses turns that the next question's prompt has again.
    if (mayWish) scene.wish = summaryRequest(options, scene, { ...built, turns }, summary);
    mayWish = false;
    return built;
  };
  const startsFresh = () => startAnew(scene, 'startedAfresh');
  return askWithinLimits({ chat, sizes, mostTokens, model, request, build, startsFresh }, controls.signal, onEvent);
}

/** What was said before is no part of this conversation any more; the person is told so apart from the answer. */
function startAnew(scene: AdmittedScene, why: 'conversationEnded' | 'startedAfresh'): void {
  scene.startsAnew = true;
  note(scene, sayTo(scene, TURN_TEXTS[why]));
}

/** Tells the person something about the answer that is being made. @param text what of it is shown already */
function note(scene: AdmittedScene, line: string, text = ''): void {
  // Each round of a question with tools may say the same.
  if (!scene.notes.includes(line)) scene.notes.push(line);
  scene.live.show({ text, ...apart(scene) });
}

/** What is shown apart from the text. */
function apart({ notes }: AdmittedScene): { status?: string } {
  return notes.length === 0 ? {} : { status: notes.join('\n') };
}

/** The service's own default when nothing was chosen. */
function thinkingOf({ preferences: { thinking } }: TurnScene): Pick<ChatRequest, 'thinking'> {
  return thinking === undefined ? {} : { thinking };
}

/** What the question cost, for the commit to write; a question that reached no model cost nothing. */
function usageOf(
  { nowMs }: AnswerQuestionOptions,
  { turn, newest }: TurnScene,
  { tokens }: TokenCount,
): Pick<Outcome, 'usage'> {
  if (tokens === 0) return {};
  const personId = personIdOf(newest, newest.sender.userId);
  const { partition } = turn.conversation;
  return { usage: usageChange({ partition, personId, nowMs: nowMs() }, { questions: turn.messages.length, tokens }) };
}

function endingOf(reason: EndReason): Ending {
  return reason === 'length' || reason === 'truncated' ? reason : 'whole';
}

function finished(
  { keyRing }: AnswerQuestionOptions,
  scene: AdmittedScene,
  { text, ending }: { text: string; ending: Ending },
): Outcome {
  // An answer that is nothing but a thought shows nothing, and somebody waits.
  if (showsNothing(text)) {
    const empty = sayTo(scene, TURN_TEXTS[ending === 'stopped' ? 'stopped' : 'emptyAnswer']);
    return {
      kind: ending === 'stopped' ? 'stopped' : 'failed',
      text: empty,
      history: failedTurnHistory(keyRing, scene),
      ...stopServed(scene, ending),
    };
  }
  const isWhole = ending === 'whole';
  return {
    kind: ending === 'stopped' ? 'stopped' : isWhole ? 'answered' : 'interrupted',
    ...ended({ text, ending }, scene),
    history: turnHistory(keyRing, scene, { text, interrupted: !isWhole }),
    ...stopServed(scene, ending),
  };
}

/** The text as it is shown. That it is not whole is said below it; who answered, and that the person stopped it, apart from it. */
function ended(
  { text, ending }: { text: string; ending: Ending },
  scene: AdmittedScene,
): Pick<Outcome, 'text' | 'note'> {
  const said = [...scene.notes, ...(ending === 'stopped' ? [sayTo(scene, TURN_TEXTS.stopped)] : [])].join('\n');
  const apartFromIt = said === '' ? {} : { note: said };
  if (ending === 'whole' || ending === 'stopped') return { text, ...apartFromIt };
  const mark = sayTo(scene, TURN_TEXTS[ending === 'length' ? 'lengthReached' : 'interrupted']);
  return { text: `${text}\n\n${mark}`, ...apartFromIt };
}

/** A question that cannot be put to a model as it is; it stays the last one, so that /retry does not ask another. */
function refused(options: AnswerQuestionOptions, scene: TurnScene, text: string): Outcome {
  return { kind: 'refused', text, history: failedTurnHistory(options.keyRing, scene) };
}

/** Read from the claim itself: the stop word came while the turn ran. */
function stopServed({ controls }: TurnScene, ending: Ending): Pick<Outcome, 'stopServed'> {
  return ending === 'stopped' ? { stopServed: controls.claim.stop.seq } : {};
}

/** Which sentence a person reads for an error of the chat service; never the service's own words. */
function textFor({ code }: ChatError): keyof typeof TURN_TEXTS {
  return TEXT_FOR[code] ?? 'chatDown';
}

const TEXT_FOR: Partial<Record<ChatError['code'], keyof typeof TURN_TEXTS>> = {
  chat_rate_limited: 'chatBusy',
  chat_circuit_open: 'chatBusy',
  chat_too_large: 'chatTooLong',
  chat_bad_request: 'chatRefusedQuestion',
};
