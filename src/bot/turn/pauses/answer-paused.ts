import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { Pause, PauseTarget } from '../../domain/pause.ts';
import { PAUSE_TEXTS } from '../../i18n/pause-texts.ts';
import type { AnswerQuestion, Outcome } from '../outcome.ts';
import { failedTurnHistory } from '../prompt/turn-history.ts';
import { translate } from '../translate.ts';
import type { AdmittedContext } from '../turn-context.ts';
import type { Pauses } from './pauses.ts';

/**
 * Answers a question with a sentence while its place or its model is paused; no model is called, and the question remains
 * the last one for /retry. Commands still work (SECURITY.md pauses).
 */
export function answerPaused(keyRing: KeyRing, pauses: Pauses, answerQuestion: AnswerQuestion): AnswerQuestion {
  return async (context) => {
    const { newest, models } = context;
    const [model, ...others] = models;
    const ofGroup: PauseTarget[] = newest.chat.kind === 'group' ? [`group:${newest.chat.id}`] : [];
    const place = pauses.of('all', `platform:${newest.platform}`, ...ofGroup);
    if (place)
      return paused(keyRing, context, place, PAUSE_TEXTS[place.target.split(':')[0] as 'all' | 'platform' | 'group']);
    const running = others.filter((name) => !pauses.of(`model:${name}`));
    const own = pauses.of(`model:${model}`);
    if (own) return paused(keyRing, context, own, running.length > 0 ? PAUSE_TEXTS.model : PAUSE_TEXTS.onlyModel);
    // Paused models are also left out as image model and as fallback.
    return answerQuestion(running.length === others.length ? context : { ...context, models: [model, ...running] });
  };
}

function paused(
  keyRing: KeyRing,
  context: AdmittedContext,
  { message }: Pause,
  text: (typeof PAUSE_TEXTS)[keyof typeof PAUSE_TEXTS],
): Outcome {
  const sentence = translate(context, text, { model: context.models[0] });
  return {
    kind: 'paused',
    text: message === undefined ? sentence : `${sentence}\n\n${message}`,
    ...failedTurnHistory(keyRing, context),
  };
}
