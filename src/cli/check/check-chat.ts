import type { CheckResult } from '../../bot/platforms/platform.ts';
import { askForModels, askForWord, hasChoices, modelsIn, type ChatPlace } from '../../bot/model/probe-chat.ts';
import type { CheckAnswer } from '../../shared/http/check-request.ts';

interface ChatCheckOptions extends ChatPlace {
  /** The models that people may pick, and the one used unless they do. */
  models: readonly string[];
  model: string;
  /** Answers when that one is away. */
  fallbackModel?: string;
  /** What the lines begin with; `Chat` unless told. */
  title?: string;
  /** The settings that a next step names; the bot's own unless told. */
  settings?: Readonly<Record<'baseUrl' | 'apiKey' | 'models' | 'model', string>>;
}

const BOT_SETTINGS = { baseUrl: 'CHAT_BASE_URL', apiKey: 'CHAT_API_KEY', models: 'CHAT_MODELS', model: 'CHAT_MODEL' };

/** Asks the chat service for its models and for one tiny answer of each that the bot would ask. */
export async function checkChat(options: ChatCheckOptions): Promise<CheckResult[]> {
  const { model, fallbackModel, title = 'Chat' } = options;
  const fallback =
    fallbackModel === undefined ? [] : [checkCompletion(`${title} fallback answer`, options, fallbackModel)];
  return Promise.all([checkModels(options), checkCompletion(`${title} answer`, options, model), ...fallback]);
}

async function checkModels(options: ChatCheckOptions): Promise<CheckResult> {
  const { models, model, title = 'Chat', settings = BOT_SETTINGS } = options;
  const name = `${title} models`;
  const answer = await askForModels(options);
  if (answer.status !== 200) {
    if ([404, 405, 501].includes(answer.status)) return { name, verdict: 'ok', detail: 'the service has no list' };
    return { name, verdict: 'warning', ...refusal(answer, settings) };
  }
  const offered = modelsIn(answer.body);
  if (!offered) return { name, verdict: 'warning', detail: 'the list cannot be read' };
  const missing = models.filter((model) => !offered.includes(model));
  if (missing.length === 0) return { name, verdict: 'ok', detail: models.join(', ') };
  // People may never choose another one, but this one every question meets.
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
  const answer = await askForWord(place, model);
  if (answer.status !== 200) return { name, verdict: 'fault', ...refusal(answer, settings) };
  if (!hasChoices(answer.body)) {
    return {
      name,
      verdict: 'fault',
      detail: 'no answer in the result',
      nextStep: `See that ${settings.baseUrl} ends in /v1`,
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
    404: `See that ${baseUrl} ends in /v1 and that ${model} exists`,
    429: 'Wait, or ask for a higher limit',
  };
  return { detail: `answers ${answer.status}`, nextStep: nextSteps[answer.status] ?? 'Ask who runs the chat service' };
}
