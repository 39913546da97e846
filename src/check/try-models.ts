import type { CheckResult } from '../platforms/platform.ts';
import type { ModelCatalog } from '../models/model-catalog.ts';
import { plainModel, type ThinkingDialect } from '../models/model-entry.ts';
import { thinkingFields } from '../models/thinking-fields.ts';
import { askBriefly, hasChoices, type ChatPlace } from './check-chat.ts';

/** What is tried of a model that the models file does not list. */
export interface TriedModelsOptions extends ChatPlace {
  models: readonly string[];
  catalog: ModelCatalog;
  /** Where the entries are to be written. */
  modelsFile: string;
}

/** As it would stand in the models file. */
interface ProposedEntry {
  name: string;
  images?: true;
  tools?: false;
  thinking?: ThinkingDialect;
}

/** Enough for a model that thinks to begin with it. */
const TRIAL_TOKENS = 64;
/** 32 by 32 red pixels: some engines refuse smaller pictures. */
const PICTURE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR42mO4oKBAU8QwasGoBaMWjFowasGoBaMWjFowasGoBaMWDBULAE7YQD2B7wk2AAAAAElFTkSuQmCC';
const TOOL = {
  type: 'function',
  function: {
    name: 'current_time',
    description: 'Tells the time',
    parameters: { type: 'object', properties: {}, required: [] },
  },
};
/** In the order in which they are tried; each is a trial with thinking and one without. */
const DIALECTS = ['thinking', 'reasoning_effort', 'enable_thinking', 'chat_template_kwargs'] as const;

/** Tries each model that is not listed, with a few small questions, and tells the entry that would fit. */
export async function tryUnlistedModels(options: TriedModelsOptions): Promise<CheckResult[]> {
  const unlisted = options.models.filter((name) => !options.catalog.lists(name));
  return Promise.all(unlisted.map((name) => tryModel(options, name)));
}

async function tryModel(place: TriedModelsOptions, model: string): Promise<CheckResult> {
  const name = `Model ${model}`;
  const ask = (fields: object, content: unknown = 'Say OK.') => askOnce(place, { model, content, fields });
  const [bare, picture, tools, thinking] = await Promise.all([
    ask({}),
    ask({}, [
      { type: 'text', text: 'Which colour is it? One word.' },
      { type: 'image_url', image_url: { url: PICTURE } },
    ]),
    ask({ tools: [TOOL] }),
    dialectOf(ask, model),
  ]);
  if (!bare.answers)
    return {
      name,
      verdict: 'warning',
      detail: 'is not in MODELS_FILE, and gave no answer by which to propose an entry',
    };
  const entry: ProposedEntry = {
    name: model,
    images: picture.answers ? true : undefined,
    tools: tools.answers ? undefined : false,
    thinking,
  };
  return {
    name,
    verdict: 'warning',
    detail: 'is not in MODELS_FILE: it gets text and tools, no images, no thinking',
    nextStep: `From a few small trials this entry fits, add it to ${place.modelsFile}: ${JSON.stringify(entry)}`,
  };
}

type Ask = (fields: object, content?: unknown) => Promise<Trial>;

/** The first dialect in which thinking can be switched on and off, as seen from the answers. */
async function dialectOf(ask: Ask, model: string): Promise<ThinkingDialect | undefined> {
  for (const thinking of DIALECTS) {
    const entry = { ...plainModel(model), thinking, levels: thinking === 'reasoning_effort' ? ['low'] : [] };
    const isOn = await ask(thinkingFields(entry, 'high'));
    if (!isOn.thinks) continue;
    const isOff = await ask(thinkingFields(entry, 'off'));
    if (isOff.answers && !isOff.thinks) return thinking;
  }
  return undefined;
}

/** What one small question showed. */
interface Trial {
  answers: boolean;
  thinks: boolean;
}

async function askOnce(
  place: ChatPlace,
  { model, content, fields }: { model: string; content: unknown; fields: object },
): Promise<Trial> {
  const messages = [{ role: 'user', content }];
  const answer = await askBriefly(place, { model, messages, max_tokens: TRIAL_TOKENS, ...fields });
  const answers = 'body' in answer && answer.status === 200 && hasChoices(answer.body);
  return { answers, thinks: answers && showsThought(answer.body) };
}

/** A thought of its own, or between tags at the beginning of the text. */
function showsThought(body: string): boolean {
  return /"reasoning(?:_content)?"\s*:\s*"[^"]/.test(body) || /"content"\s*:\s*"\s*<think>/.test(body);
}
