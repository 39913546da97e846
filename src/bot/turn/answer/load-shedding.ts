import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { TURN_TEXTS } from '../../i18n/turn-texts.ts';
import type { AnswerQuestion } from '../outcome.ts';
import type { TurnControls } from '../../domain/turn.ts';
import { translate } from '../translate.ts';
import { failedTurnHistory } from '../prompt/turn-history.ts';

/** Maximum length of a short answer, because models may write more than requested: about 600 English words. */
export const BRIEF_ANSWER_CHARS = 4_000;
/** For the model, in the language of its other instructions. */
const BE_BRIEF = 'Many people are asking at the moment. Answer in at most 150 words.';

/**
 * Asks people to try again later while more messages wait than the deployment's hard limit allows
 * (SECURITY.md back-pressure). No model is called, and the question remains the last one for /retry. The sign-in gate runs
 * first; slash commands and stopped questions never get here.
 */
export function shedLoad(keyRing: KeyRing, answerQuestion: AnswerQuestion): AnswerQuestion {
  return async (context) => {
    if (context.controls.pressure() !== 'hard') return answerQuestion(context);
    return {
      kind: 'busy',
      text: translate(context, TURN_TEXTS.queueBusy),
      ...failedTurnHistory(keyRing, context),
    };
  };
}

/** Whether this answer must be short and without tools because others are waiting. */
export function shouldBeBrief(controls: TurnControls): boolean {
  return controls.pressure() !== 'none';
}

/** The system prompt for a short answer. */
export function briefPrompt(systemPrompt: string): string {
  return `${systemPrompt}\n\n${BE_BRIEF}`;
}
