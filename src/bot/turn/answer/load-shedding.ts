import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { TURN_TEXTS } from '../../i18n/turn-texts.ts';
import type { AnswerQuestion } from '../outcome.ts';
import type { TurnContext } from '../turn-context.ts';
import { sayTo } from '../translate.ts';
import { failedTurnHistory } from '../prompt/turn-history.ts';

/** Where an answer ends that is to be short; about 600 words of English, and far more than was asked for. */
const BRIEF_ANSWER_CHARS = 4_000;
/** For the model, which is told in the language of its other instructions. */
const BE_BRIEF = 'Many people are asking at the moment. Answer in at most 150 words.';

/**
 * Tells people to try again later while more waits than the deployment's hard limit allows (SECURITY.md back-pressure): no model
 * is asked, and the question stays the last one, for /retry. The gate comes before it, and slash words and whatever a stop
 * word has ended never get here.
 */
export function shedLoad(keyRing: KeyRing, answerQuestion: AnswerQuestion): AnswerQuestion {
  return async (context) => {
    if (context.controls.pressure() !== 'hard') return answerQuestion(context);
    return {
      kind: 'busy',
      text: sayTo(context, TURN_TEXTS.queueBusy),
      history: failedTurnHistory(keyRing, context),
    };
  };
}

/** Whether this answer is to be short and without tools, since others wait. */
export function shouldBeBrief({ controls }: TurnContext): boolean {
  return controls.pressure() !== 'none';
}

/** The system prompt of an answer that is to be short. */
export function briefPrompt(systemPrompt: string): string {
  return `${systemPrompt}\n\n${BE_BRIEF}`;
}

/** What a request for a short answer has beside the others; models may write more than they are asked for. */
export const BRIEF_REQUEST = { maxAnswerChars: BRIEF_ANSWER_CHARS } as const;
