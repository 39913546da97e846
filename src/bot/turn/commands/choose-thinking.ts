import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { localize, type Language } from '../../../shared/text/texts.ts';
import type { ModelCatalog } from '../../../shared/models/model-catalog.ts';
import type { ModelEntry } from '../../../shared/models/model-entry.ts';
import { levelFor, type Thinking } from '../../../shared/models/thinking-fields.ts';
import { WORD_TEXTS } from '../../i18n/word-texts.ts';
import type { TurnContext } from '../turn-context.ts';
import type { SignInGate } from '../sign-in-gate.ts';
import type { Outcome } from '../outcome.ts';
import { translate } from '../translate.ts';
import { AUTO_WORDS } from './argument-words.ts';
import { saveChoice, echoInput, normalizeArgument, sentences } from './choice.ts';
import { levelName, levelOf } from './level-names.ts';
import { findAllowedModels } from './models-here.ts';

/** /think: sets the reasoning effort of the model for this person in this chat (SERVICE.md request-fields). */
export async function chooseThinking(
  { keyRing, gate, catalog }: { keyRing: KeyRing; gate: SignInGate; catalog: ModelCatalog },
  context: TurnContext,
  argument: string,
): Promise<Outcome> {
  const { language } = context.question;
  const how = translate(context, WORD_TEXTS.thinkHow);
  const asked = normalizeArgument(argument);
  if (asked === '') return { kind: 'command', text: sentences(language, stateOf(context), how) };
  if (AUTO_WORDS.has(asked))
    return saveChoice(keyRing, context, { thinking: undefined }, localize(WORD_TEXTS.thinkUnset, language));
  const thinking = levelOf(asked);
  if (thinking === undefined)
    return {
      kind: 'command',
      text: sentences(language, localize(WORD_TEXTS.thinkUnknown, language, { asked: echoInput(argument) }), how),
    };
  if (thinking === 'off') return saveChoice(keyRing, context, { thinking }, localize(WORD_TEXTS.thinkOff, language));
  const found = await findAllowedModels(gate, context);
  if ('outcome' in found) return found.outcome;
  const [model] = found.models;
  return saveChoice(keyRing, context, { thinking }, thinksFromNowOn(catalog.of(model), thinking, language));
}

/** Describes the effect of a level on the model: the level itself, the nearest one, reasoning without levels, or none. */
function thinksFromNowOn(model: ModelEntry, thinking: Thinking, language: Language): string {
  const values = { level: levelName(thinking, language), model: model.name };
  if (model.thinking === 'none') return localize(WORD_TEXTS.thinkNever, language, values);
  const nearest = levelFor(model.levels, thinking);
  if (nearest === undefined) return localize(WORD_TEXTS.thinkOnPlain, language, values);
  if (nearest === thinking) return localize(WORD_TEXTS.thinkOn, language, values);
  return localize(WORD_TEXTS.thinkOnNearest, language, { ...values, nearest: levelName(nearest, language) });
}

function stateOf({ preferences: { thinking }, question: { language } }: TurnContext): string {
  if (thinking === undefined) return localize(WORD_TEXTS.thinkUnset, language);
  return localize(WORD_TEXTS.thinkIs, language, { level: levelName(thinking, language) });
}
