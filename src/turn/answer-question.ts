import type { NowMs } from '../base/clock.ts';
import type { KeyRing } from '../base/key-ring.ts';
import { say } from '../base/texts.ts';
import { ChatError } from '../chat/chat-error.ts';
import type { ChatClient } from '../chat/chat-client.ts';
import type { ChatEvent } from '../chat/chat-types.ts';
import { buildPrompt } from '../conversation/build-prompt.ts';
import { fetchImages, ImageRefusedError } from './fetch-images.ts';
import type { TurnScene } from './run-turn.ts';
import { TURN_TEXTS } from './texts.ts';
import { earlierTurns, failedTurnHistory, speakerTagOf, turnHistory } from './turn-history.ts';
import type { Outcome } from './turn-types.ts';

export interface AnswerQuestionOptions {
  chat: ChatClient;
  keyRing: KeyRing;
  systemPrompt: string;
  /** The model for text, and the one that can see; undefined when none of the configured models can. */
  model: string;
  visionModel: string | undefined;
  /** Tokens that the prompt may take. */
  promptBudgetTokens: number;
  nowMs: NowMs;
}

export type AnswerQuestion = (scene: TurnScene) => Promise<Outcome>;

/** How the answer ended, once its events are read. */
type Ending = 'whole' | 'length' | 'truncated' | 'stopped';

/** Asks the model and lets its answer grow in the live reply. What was shown is kept, whatever happens (security.md 5.3). */
export function createAnswerQuestion(options: AnswerQuestionOptions): AnswerQuestion {
  return async (scene) => {
    const { question, live, turn } = scene;
    const { language } = question;
    if (question.text === '' && question.imageRefs.length === 0)
      return { kind: 'refused', text: say(TURN_TEXTS.unsupported, language) };
    if (question.imageRefs.length > 0 && !options.visionModel)
      return { kind: 'refused', text: say(TURN_TEXTS.noVision, language) };
    // After a sign-in the reply still shows the invitation; say at once that its question is being answered.
    const isReleased = (turn.messages.at(-1)?.acceptedAtMs ?? 0) > turn.startedAtMs;
    if (isReleased) live.show({ text: '', status: say(TURN_TEXTS.released, language) });

    let shown = '';
    try {
      const events = options.chat.stream(await buildRequest(options, scene), scene.controls.signal);
      const ending = await readAnswer(events, (text) => {
        shown = text;
        live.show({ text });
      });
      return finished(options, scene, { text: shown, ending });
    } catch (error) {
      if (scene.controls.signal.reason === 'stopped')
        return finished(options, scene, { text: shown, ending: 'stopped' });
      if (error instanceof ImageRefusedError) return { kind: 'refused', text: say(TURN_TEXTS.imageRefused, language) };
      if (!(error instanceof ChatError)) throw error;
      if (shown !== '') return finished(options, scene, { text: shown, ending: 'truncated' });
      return {
        kind: 'failed',
        text: say(TURN_TEXTS[textFor(error)], language),
        history: failedTurnHistory(options.keyRing, scene),
      };
    }
  };
}

async function buildRequest(
  options: AnswerQuestionOptions,
  scene: TurnScene,
): Promise<Parameters<ChatClient['stream']>[0]> {
  const { question, newest, platform, controls } = scene;
  const images = await fetchImages(platform, question.imageRefs, controls.signal);
  const messages = buildPrompt({
    systemPrompt: options.systemPrompt,
    turns: earlierTurns(options.keyRing, scene),
    current: {
      text: question.text,
      images,
      ...(question.quotedText === undefined ? {} : { quote: question.quotedText }),
      ...(newest.chat.kind === 'group' ? { speakerTag: speakerTagOf(scene) } : {}),
    },
    budgetTokens: options.promptBudgetTokens,
    chatKind: newest.chat.kind,
    nowMs: options.nowMs(),
  });
  return { model: (images.length > 0 ? options.visionModel : undefined) ?? options.model, messages };
}

async function readAnswer(events: AsyncIterable<ChatEvent>, onText: (whole: string) => void): Promise<Ending> {
  let text = '';
  for await (const event of events) {
    if (event.type === 'text') onText((text += event.delta));
    if (event.type === 'end')
      return event.reason === 'length' ? 'length' : event.reason === 'truncated' ? 'truncated' : 'whole';
  }
  return 'truncated';
}

function finished(
  { keyRing }: AnswerQuestionOptions,
  scene: TurnScene,
  answer: { text: string; ending: Ending },
): Outcome {
  const { language } = scene.question;
  const { text, ending } = answer;
  if (text.trim() === '') {
    const empty = say(TURN_TEXTS[ending === 'stopped' ? 'stopped' : 'emptyAnswer'], language);
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
    text: isWhole ? text : `${text}\n\n${say(TURN_TEXTS[noteFor(ending)], language)}`,
    history: turnHistory(keyRing, scene, { text, interrupted: !isWhole }),
    ...stopServed(scene, ending),
  };
}

function stopServed({ turn }: TurnScene, ending: Ending): Pick<Outcome, 'stopServed'> {
  return ending === 'stopped' ? { stopServed: turn.stop.seq } : {};
}

function noteFor(ending: Ending): 'lengthReached' | 'stopped' | 'interrupted' {
  return ending === 'length' ? 'lengthReached' : ending === 'stopped' ? 'stopped' : 'interrupted';
}

/** Which sentence a person reads for an error of the chat service; never the service's own words. */
function textFor(error: ChatError): 'chatBusy' | 'chatTooLong' | 'chatDown' {
  if (error.code === 'chat_rate_limited' || error.code === 'chat_circuit_open') return 'chatBusy';
  return error.code === 'chat_too_large' ? 'chatTooLong' : 'chatDown';
}
