import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { nearestOf } from '../../../shared/text/did-you-mean.ts';
import { localize, type Language } from '../../../shared/text/texts.ts';
import type { ModelCatalog } from '../../../shared/models/model-catalog.ts';
import type { ModelEntry } from '../../../shared/models/model-entry.ts';
import type { Models } from '../../policy/policy.ts';
import { WORD_TEXTS } from '../../i18n/word-texts.ts';
import type { TurnContext } from '../turn-context.ts';
import type { SignInGate } from '../sign-in-gate.ts';
import type { Outcome } from '../outcome.ts';
import { translate } from '../translate.ts';
import { AUTO_WORDS } from './argument-words.ts';
import { saveChoice, echoInput, normalizeArgument } from './choice.ts';
import { levelName } from './level-names.ts';
import { findAllowedModels } from './models-here.ts';

/** Maximum edit distance for a suggestion. */
const MAX_EDITS = 3;

/** /model: lists the models that this person may use here, or selects one for this person and chat. */
export async function chooseModel(
  { keyRing, gate, catalog }: { keyRing: KeyRing; gate: SignInGate; catalog: ModelCatalog },
  context: TurnContext,
  argument: string,
): Promise<Outcome> {
  const found = await findAllowedModels(gate, context);
  if ('outcome' in found) return found.outcome;
  const { models, usual } = found;
  const { language } = context.question;
  const asked = normalizeArgument(argument);
  if (asked === '') return { kind: 'command', text: list(context, models, catalog) };
  if (AUTO_WORDS.has(asked))
    return saveChoice(
      keyRing,
      context,
      { model: undefined },
      localize(WORD_TEXTS.modelUsual, language, { name: usual }),
    );
  const name = models.find((candidate) => candidate.toLowerCase() === asked);
  if (name === undefined) return { kind: 'command', text: unknown(models, argument, language) };
  return saveChoice(keyRing, context, { model: name }, localize(WORD_TEXTS.modelChosen, language, { name }));
}

/** The first model is the current one. The order of the list does not depend on the selection. */
function list(context: TurnContext, models: Models, catalog: ModelCatalog): string {
  const { language } = context.question;
  const lines = [...models].sort().map((name) => {
    const text = WORD_TEXTS[name === models[0] ? 'modelLineChosen' : 'modelLine'];
    return localize(text, language, { name, abilities: abilities(catalog.of(name), language) });
  });
  return translate(context, WORD_TEXTS.models, { list: lines.join('\n') });
}

/** Text after a model's name: its label, if any, and its capabilities. */
function abilities({ name, label, seesImages, thinking, levels }: ModelEntry, language: Language): string {
  const between = language === 'zh' ? '、' : ', ';
  const told = [
    ...(label === name ? [] : [label]),
    ...(seesImages ? [localize(WORD_TEXTS.abilitySees, language)] : []),
    ...(thinking === 'none' ? [] : [thinks(levels.map((level) => levelName(level, language)).join(between), language)]),
  ];
  if (told.length === 0) return localize(WORD_TEXTS.abilityText, language);
  return told.join(language === 'zh' ? '，' : ', ');
}

function thinks(levels: string, language: Language): string {
  return levels === ''
    ? localize(WORD_TEXTS.abilityThinks, language)
    : localize(WORD_TEXTS.abilityThinksBy, language, { levels });
}

/** The same text for an unknown name and for a model that this person may not use, so that it reveals nothing. */
function unknown(models: Models, argument: string, language: Language): string {
  const names = [...models].sort();
  const values = {
    asked: echoInput(argument),
    list: names.map((name) => `\`${name}\``).join(language === 'zh' ? '、' : ', '),
  };
  const meant =
    nearestOf(normalizeArgument(argument), names, MAX_EDITS) ?? onlyEnding(normalizeArgument(argument), names);
  return meant === undefined
    ? localize(WORD_TEXTS.modelUnknown, language, values)
    : localize(WORD_TEXTS.modelMeant, language, { ...values, meant });
}

/** Finds a model by a part of its name that is unique, such as `max` for svc-max. */
function onlyEnding(asked: string, names: readonly string[]): string | undefined {
  const fitting = names.filter((name) => name.toLowerCase().includes(asked));
  return fitting.length === 1 ? fitting[0] : undefined;
}
