import type { CheckResult } from '../../bot/platforms/platform.ts';
import type { ModelCatalog } from '../../shared/models/model-catalog.ts';
import { entriesOfFamily } from '../../shared/models/known-models.ts';
import { applyDefaults, type ModelFileEntry } from '../../shared/models/models-file.ts';
import { thinkingFields } from '../../shared/models/thinking-fields.ts';
import { askBriefly, type ChatPlace } from '../../bot/model/probe-chat.ts';
import { resultsOf } from './results-of.ts';

/** Options for testing models that the models file does not list. */
export interface TriedModelsOptions extends ChatPlace {
  models: readonly string[];
  catalog: ModelCatalog;
  /** Entries of well-known models. */
  known: readonly ModelFileEntry[];
  /** Maximum models to test: each costs several requests. */
  maxTried: number;
  /** Path of the models file, for the next step. */
  modelsFile: string;
}

/** Enough for a thinking model to start its thought. */
const TRIAL_TOKENS = 64;
/** 32 by 32 red pixels. Some engines refuse smaller images. */
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
/** The ways to enable thinking, in the order of testing. Each is tested with thinking on and off. */
const WAYS: readonly Way[] = [
  { thinking: 'thinking' },
  { thinking: 'reasoning_effort' },
  // For models that think by default.
  { thinking: 'reasoning_effort', levels: ['none', 'low', 'medium', 'high'] },
  { thinking: 'enable_thinking' },
  { thinking: 'chat_template_kwargs' },
];

type Way = Pick<ModelFileEntry, 'thinking' | 'levels'>;

/** Tests each unlisted model with a few small questions and proposes an entry. */
export async function tryUnlistedModels(options: TriedModelsOptions): Promise<CheckResult[]> {
  const unlisted = options.models.filter((name) => !options.catalog.lists(name));
  const tried = await Promise.all(unlisted.slice(0, options.maxTried).map((name) => tryModel(options, name)));
  const rest = unlisted.slice(options.maxTried);
  return rest.length === 0 ? tried : [...tried, notTried(rest)];
}

function notTried(rest: readonly string[]): CheckResult {
  const detail = `${rest.length} more are not in MODELS_FILE and were not tested`;
  return resultsOf('Models').hint(detail, 'To test others, name them in CHAT_MODELS');
}

async function tryModel(options: TriedModelsOptions, model: string): Promise<CheckResult> {
  const { hint, warning } = resultsOf(`Model ${model}`);
  const ask = (fields: object, content: unknown = 'Say OK.') => askOnce(options, { model, content, fields });
  const [bare, picture, tools] = await Promise.all([
    ask({}),
    ask({}, [
      { type: 'text', text: 'Which colour is it? One word.' },
      { type: 'image_url', image_url: { url: PICTURE } },
    ]),
    ask({ tools: [TOOL] }),
  ]);
  if (!bare.answers)
    return warning(
      'is not in MODELS_FILE and did not answer, so no entry can be suggested',
      'Correct its name, or the fault of the chat service in the lines above',
    );
  const entry: ModelFileEntry = {
    ...(await wayOf(ask, entriesOfFamily(model, options.known))),
    name: model,
    images: picture.answers ? true : undefined,
    tools: tools.answers ? undefined : false,
  };
  return hint(
    'is not in MODELS_FILE: only text and tools are used, no images or thinking',
    `A few small requests suggest this entry; add it to the list [ ] in ${options.modelsFile}: ${JSON.stringify(inOrder(entry))}`,
  );
}

type Ask = (fields: object, content?: unknown) => Promise<Trial>;

/** Finds how to enable thinking: first the ways of known models of the same family, then all others. */
async function wayOf(ask: Ask, known: readonly ModelFileEntry[]): Promise<Omit<ModelFileEntry, 'name'>> {
  for (const entry of known) {
    // Images and tools are tested separately.
    const { images: _images, tools: _tools, label: _label, upstream: _upstream, ...way } = entry;
    // The most likely family member does not think. If the model does, a way is still found below.
    if (way.thinking === undefined) break;
    if (await fits(ask, way, true)) return way;
  }
  for (const way of WAYS) if (await fits(ask, way, false)) return way;
  return {};
}

/**
 * Whether thinking can be switched on and off this way, judged by the answers.
 * @param isKnown whether the way is that of a known model; with levels, such a model may hide its thought
 */
async function fits(ask: Ask, way: Way, isKnown: boolean): Promise<boolean> {
  const entry = applyDefaults({ name: 'tried', ...way });
  const isOn = await ask(thinkingFields(entry, 'high'));
  const mayHide = isKnown && way.thinking === 'reasoning_effort' && way.levels !== undefined;
  if (!isOn.answers || !(isOn.thinks || mayHide)) return false;
  const isOff = await ask(thinkingFields(entry, 'off'));
  return isOff.answers && !isOff.thinks;
}

/** Puts the name first, as usual in the file. */
function inOrder({ name, ...rest }: ModelFileEntry): ModelFileEntry {
  return { name, ...rest };
}

/** The result of one test question. */
interface Trial {
  answers: boolean;
  thinks: boolean;
}

/** Streamed, as the bot does it, because some engines think only then. */
async function askOnce(
  place: ChatPlace,
  { model, content, fields }: { model: string; content: unknown; fields: object },
): Promise<Trial> {
  const messages = [{ role: 'user', content }];
  const answer = await askBriefly(place, { model, messages, max_tokens: TRIAL_TOKENS, stream: true, ...fields });
  const answers = 'body' in answer && answer.status === 200 && /"choices"\s*:\s*\[\s*\{/.test(answer.body);
  return { answers, thinks: answers && showsThought(answer.body) };
}

/** Whether the thought is a separate field, part of a list, or in tags at the start of the text. */
function showsThought(body: string): boolean {
  return (
    /"reasoning(?:_content)?"\s*:\s*"[^"]/.test(body) ||
    /"type"\s*:\s*"thinking"/.test(body) ||
    /"content"\s*:\s*"\s*<think>/.test(body)
  );
}
