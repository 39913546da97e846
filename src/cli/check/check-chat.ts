import type { CheckResult } from '../../bot/platforms/platform.ts';
import { chatModelNames } from '../../bot/model/chat-model-names.ts';
import { probeModels, probeAnswer, hasChoices, modelsIn, type ChatPlace } from '../../bot/model/probe-chat.ts';
import type { CheckAnswer } from '../../shared/http/check-request.ts';
import { resultsOf } from './results-of.ts';

interface ChatCheckOptions extends ChatPlace {
  /** The selectable models and the default one. */
  models: readonly string[];
  model: string;
  /** Used if the default model is unavailable. */
  fallbackModel?: string;
  /** What the operator has named. Only that can be corrected. Defaults to the models. */
  named?: { models: boolean; model: boolean };
  /** Prefix of the result lines. Defaults to `Chat`. */
  title?: string;
  /** Setting names for the next steps. Defaults to the bot's own. */
  settings?: ChatSettingNames;
}

type ChatSettingNames = Readonly<Record<'baseUrl' | 'apiKey' | 'models' | 'model' | 'fallbackModel', string>>;

const BOT_SETTINGS: ChatSettingNames = {
  ...{ baseUrl: 'CHAT_BASE_URL', apiKey: 'CHAT_API_KEY' },
  ...{ models: 'CHAT_MODELS', model: 'CHAT_MODEL', fallbackModel: 'CHAT_FALLBACK_MODEL' },
};
const NAMED = { models: true, model: false };
/** Statuses of services that list no models. */
const NO_LIST: readonly (number | undefined)[] = [404, 405, 501];
/** Longer lists are cut in lines. */
const MAX_SHOWN = 10;
/** More models than people can choose from. */
const MANY_MODELS = 20;

/** Requests the chat service's model list and one minimal answer from each configured model. */
export async function checkChat(options: ChatCheckOptions): Promise<CheckResult[]> {
  const { model, fallbackModel, named = NAMED, title = 'Chat', settings = BOT_SETTINGS } = options;
  const setting = named.model ? settings.model : settings.models;
  const fallback =
    fallbackModel === undefined
      ? []
      : [checkCompletion(`${title} fallback answer`, options, [settings.fallbackModel, fallbackModel])];
  return Promise.all([
    checkModels(options),
    checkCompletion(`${title} answer`, options, [setting, model]),
    ...fallback,
  ]);
}

async function checkModels(options: ChatCheckOptions): Promise<CheckResult> {
  const { models, model, named = NAMED, title = 'Chat', settings = BOT_SETTINGS } = options;
  const { ok, warning, fault } = resultsOf(`${title} models`);
  const answer = await probeModels(options);
  if (answer.status !== 200) {
    if (!NO_LIST.includes(answer.status)) return warning(...refusal(answer, settings, settings.models));
    return ofUnlisted('the service does not list its models', options);
  }
  const offered = modelsIn(answer.body);
  if (!offered) return warning('the model list cannot be read');
  const usable = chatModelNames(offered);
  if (usable.length === 0) return ofUnlisted('the service lists no chat models', options);
  const missing = models.filter((model) => !offered.includes(model));
  if (missing.length > 0)
    // A missing default model affects every question; other models are only used when selected.
    return (missing.includes(model) ? fault : warning)(
      `not listed: ${shown(missing)}`,
      `Choose ${settingsNaming(missing, options).join(' and ')} from: ${shown(usable)}`,
    );
  const nextStep = `To offer only some of them, list these in ${settings.models}`;
  const isLong = !named.models && models.length > MANY_MODELS;
  return ok(shown(models), isLong ? nextStep : undefined);
}

/** Without a list, named models are only tried. Without names either, those of the embedded service are assumed. */
function ofUnlisted(
  detail: string,
  { models, named = NAMED, title = 'Chat', settings = BOT_SETTINGS }: ChatCheckOptions,
): CheckResult {
  const { ok, warning } = resultsOf(`${title} models`);
  if (named.models) return ok(detail);
  const nextStep = `Set ${settings.models} to the models that it offers`;
  return warning(`${detail}; ${models.join(', ')} are assumed`, nextStep);
}

/** Settings that name one of these models. */
function settingsNaming(
  missing: readonly string[],
  { model, fallbackModel, named = NAMED, settings = BOT_SETTINGS }: ChatCheckOptions,
): string[] {
  const naming = [
    ...(named.models ? [settings.models] : []),
    ...(named.model && missing.includes(model) ? [settings.model] : []),
    ...(fallbackModel !== undefined && missing.includes(fallbackModel) ? [settings.fallbackModel] : []),
  ];
  return [...new Set(naming)];
}

function shown(models: readonly string[]): string {
  const rest = models.length - MAX_SHOWN;
  return models.slice(0, MAX_SHOWN).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

async function checkCompletion(
  name: string,
  { settings = BOT_SETTINGS, ...place }: ChatCheckOptions,
  [setting, model]: [setting: string, model: string],
): Promise<CheckResult> {
  const startedMs = performance.now();
  const answer = await probeAnswer(place, model);
  const { ok, fault } = resultsOf(name);
  if (answer.status !== 200) return fault(...refusal(answer, settings, setting));
  if (!hasChoices(answer.body))
    return fault('the response contains no answer', `Check that ${settings.baseUrl} ends in /v1`);
  return ok(`${model} answered in ${Math.round(performance.now() - startedMs)} ms`);
}

/** Why the service refuses to list its models; undefined if it lists them, or has no such list. */
export async function refusedList(place: ChatPlace): Promise<Refusal | undefined> {
  const answer = await probeModels(place);
  if (answer.status === 200 || NO_LIST.includes(answer.status)) return undefined;
  return refusal(answer, BOT_SETTINGS, BOT_SETTINGS.models);
}

type Refusal = [detail: string, nextStep: string];

function refusal(answer: CheckAnswer, { baseUrl, apiKey }: ChatSettingNames, model: string): Refusal {
  if ('code' in answer) return [`cannot be reached (${answer.code})`, `Start the service, or correct ${baseUrl}`];
  const nextSteps: Readonly<Record<number, string>> = {
    401: `Set ${apiKey} to a valid key`,
    403: `Set ${apiKey} to a key that may use this model`,
    404: `Check that ${baseUrl} ends in /v1, and that the service has a model as named by ${model}`,
    429: 'Wait, or ask for a higher limit',
  };
  return [`answers ${answer.status}`, nextSteps[answer.status] ?? 'Contact the operator of the chat service'];
}
