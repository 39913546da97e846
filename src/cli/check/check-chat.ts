import type { CheckResult } from '../../bot/platforms/platform.ts';
import { probeModels, probeAnswer, hasChoices, modelsIn, type ChatPlace } from '../../bot/model/probe-chat.ts';
import type { CheckAnswer } from '../../shared/http/check-request.ts';

interface ChatCheckOptions extends ChatPlace {
  /** The selectable models and the default one. */
  models: readonly string[];
  model: string;
  /** Used if the default model is unavailable. */
  fallbackModel?: string;
  /** Prefix of the result lines. Defaults to `Chat`. */
  title?: string;
  /** Setting names for the next steps. Defaults to the bot's own. */
  settings?: Readonly<Record<'baseUrl' | 'apiKey' | 'models' | 'model', string>>;
}

const BOT_SETTINGS = { baseUrl: 'CHAT_BASE_URL', apiKey: 'CHAT_API_KEY', models: 'CHAT_MODELS', model: 'CHAT_MODEL' };

/** Requests the chat service's model list and one minimal answer from each configured model. */
export async function checkChat(options: ChatCheckOptions): Promise<CheckResult[]> {
  const { model, fallbackModel, title = 'Chat' } = options;
  const fallback =
    fallbackModel === undefined ? [] : [checkCompletion(`${title} fallback answer`, options, fallbackModel)];
  return Promise.all([checkModels(options), checkCompletion(`${title} answer`, options, model), ...fallback]);
}

async function checkModels(options: ChatCheckOptions): Promise<CheckResult> {
  const { models, model, title = 'Chat', settings = BOT_SETTINGS } = options;
  const name = `${title} models`;
  const answer = await probeModels(options);
  if (answer.status !== 200) {
    if ([404, 405, 501].includes(answer.status))
      return { name, verdict: 'ok', detail: 'the service does not list its models' };
    return { name, verdict: 'warning', ...refusal(answer, settings) };
  }
  const offered = modelsIn(answer.body);
  if (!offered) return { name, verdict: 'warning', detail: 'the model list cannot be read' };
  const missing = models.filter((model) => !offered.includes(model));
  if (missing.length === 0) return { name, verdict: 'ok', detail: models.join(', ') };
  // A missing default model affects every question; other models are only used when selected.
  const isDefaultMissing = missing.includes(model);
  const wrong = isDefaultMissing ? settings.model : settings.models;
  return {
    name,
    verdict: isDefaultMissing ? 'fault' : 'warning',
    detail: `not listed: ${missing.join(', ')}`,
    nextStep: `Choose ${wrong} from: ${offered.slice(0, 10).join(', ')}`,
  };
}

async function checkCompletion(
  name: string,
  { settings = BOT_SETTINGS, ...place }: ChatCheckOptions,
  model: string,
): Promise<CheckResult> {
  const startedMs = performance.now();
  const answer = await probeAnswer(place, model);
  if (answer.status !== 200) return { name, verdict: 'fault', ...refusal(answer, settings) };
  if (!hasChoices(answer.body)) {
    return {
      name,
      verdict: 'fault',
      detail: 'the response contains no answer',
      nextStep: `Check that ${settings.baseUrl} ends in /v1`,
    };
  }
  return { name, verdict: 'ok', detail: `${model} answered in ${Math.round(performance.now() - startedMs)} ms` };
}

function refusal(
  answer: CheckAnswer,
  { baseUrl, apiKey, model }: NonNullable<ChatCheckOptions['settings']>,
): { detail: string; nextStep: string } {
  if ('code' in answer)
    return { detail: `cannot be reached (${answer.code})`, nextStep: `See that ${baseUrl} is right` };
  const nextSteps: Readonly<Record<number, string>> = {
    401: `Set ${apiKey} to a valid key`,
    403: `Set ${apiKey} to a key that may use this model`,
    404: `Check that ${baseUrl} ends in /v1 and that ${model} exists`,
    429: 'Wait, or ask for a higher limit',
  };
  return {
    detail: `answers ${answer.status}`,
    nextStep: nextSteps[answer.status] ?? 'Contact the operator of the chat service',
  };
}
