import { type Language, localize } from '../../../shared/text/texts.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { sealPreferences, type Preferences, type ThinkingChoice } from '../conversation/preferences.ts';
import type { TurnContext } from '../turn-context.ts';
import type { Outcome } from '../outcome.ts';
import { WORD_TEXTS } from '../../i18n/word-texts.ts';
import { translate } from '../translate.ts';
import type { ModelCatalog } from '../../../shared/models/model-catalog.ts';
import type { ModelEntry } from '../../../shared/models/model-entry.ts';
import { levelFor, type Thinking } from '../../../shared/models/thinking-fields.ts';
import { AUTO_WORDS, LANGUAGE_WORDS } from './argument-words.ts';
import type { SignInGate } from '../sign-in-gate.ts';
import { findAllowedModels } from './models-here.ts';
import { nearestOf } from '../../../shared/text/did-you-mean.ts';
import type { Models } from '../../policy/policy.ts';

const MAX_ECHOED_CHARS = 40;

/** Returns a person's choice for the commit, with the text of the reply. @param change `undefined` resets a choice */
function saveChoice(
  keyRing: KeyRing,
  { newest, preferences }: TurnContext,
  change: { [Name in keyof Preferences]: Preferences[Name] | undefined },
  text: string,
): Outcome {
  // JSON omits undefined fields.
  const next = { ...preferences, ...change };
  return { kind: 'command', text, preferences: sealPreferences(keyRing, newest, next) };
}

/** User input on one line and of limited length, for display in a sentence. */
function echoInput(argument: string): string {
  const shown = argument.replace(/[\s`“”]+/g, ' ').trim();
  return [...shown].length > MAX_ECHOED_CHARS ? `${[...shown].slice(0, MAX_ECHOED_CHARS).join('')}…` : shown;
}

/** Joins sentences; Chinese uses no separator. */
export function sentences(language: Language, ...said: string[]): string {
  return said.join(language === 'zh' ? '' : ' ');
}

/** Maximum argument length; longer than any name or level. */
const MAX_ARGUMENT_CHARS = 200;

/** Normalizes an argument for comparison: lower case, without the full stop that a voice transcript ends with. */
function normalizeArgument(argument: string): string {
  return argument
    .slice(0, MAX_ARGUMENT_CHARS)
    .replace(/(?<![。.!！])[。.!！]+$/, '')
    .trim()
    .toLowerCase();
}

const NAMES = {
  off: WORD_TEXTS.levelOff,
  low: WORD_TEXTS.levelLow,
  high: WORD_TEXTS.levelHigh,
  max: WORD_TEXTS.levelMax,
} as const satisfies Record<ThinkingChoice, unknown>;

/** Localized name of a reasoning level; unknown levels are returned unchanged. */
function levelName(level: string, language: Language): string {
  return isLevel(level) ? localize(NAMES[level], language) : level;
}

/** The reasoning level with this name in either language. */
function levelOf(name: string): ThinkingChoice | undefined {
  return (Object.keys(NAMES) as ThinkingChoice[]).find((level) =>
    [NAMES[level].en, NAMES[level].zh].includes(name as never),
  );
}

function isLevel(level: string): level is ThinkingChoice {
  return Object.hasOwn(NAMES, level);
}

/**
 * /lang: sets the language of the bot's own texts for this person in this chat. The model chooses the language of its
 * answers itself.
 */
export function chooseLanguage(keyRing: KeyRing, context: TurnContext, argument: string): Outcome {
  const { language } = context.question;
  const how = translate(context, WORD_TEXTS.langHow);
  if (argument === '') {
    const now = localize(WORD_TEXTS[context.preferences.language ? 'langIs' : 'langAuto'], language);
    return { kind: 'command', text: sentences(language, now, how) };
  }
  const asked = normalizeArgument(argument);
  if (AUTO_WORDS.has(asked))
    return saveChoice(keyRing, context, { language: undefined }, localize(WORD_TEXTS.langAuto, language));
  const next = LANGUAGE_WORDS.get(asked);
  if (next) return saveChoice(keyRing, context, { language: next }, localize(WORD_TEXTS.langChosen, next));
  return {
    kind: 'command',
    text: sentences(language, localize(WORD_TEXTS.langUnknown, language), how),
  };
}

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
