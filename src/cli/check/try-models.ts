import type { CheckResult } from '../../bot/platforms/platform.ts';
import type { ModelCatalog } from '../../shared/models/model-catalog.ts';
import { entriesOfFamily } from '../../shared/models/known-models.ts';
import { filledIn, type WrittenEntry } from '../../shared/models/models-file.ts';
import { thinkingFields } from '../../shared/models/thinking-fields.ts';
import { askBriefly, type ChatPlace } from '../../bot/model/probe-chat.ts';

/** What is tried of a model that the models file does not list. */
export interface TriedModelsOptions extends ChatPlace {
  models: readonly string[];
  catalog: ModelCatalog;
  /** Entries of well-known models. */
  known: readonly WrittenEntry[];
  /** Where the entries are to be written. */
  modelsFile: string;
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
/** How thinking may be asked for, in the order in which it is tried; each is a trial with thinking and one without. */
const WAYS: readonly Way[] = [
  { thinking: 'thinking' },
  { thinking: 'reasoning_effort' },
  // Where a model thinks unless it is told not to.
  { thinking: 'reasoning_effort', levels: ['none', 'low', 'medium', 'high'] },
  { thinking: 'enable_thinking' },
  { thinking: 'chat_template_kwargs' },
];

type Way = Pick<WrittenEntry, 'thinking' | 'levels'>;

/** Tries each model that is not listed, with a few small questions, and tells the entry that would fit. */
export async function tryUnlistedModels(options: TriedModelsOptions): Promise<CheckResult[]> {
  const unlisted = options.models.filter((name) => !options.catalog.lists(name));
  return Promise.all(unlisted.map((name) => tryModel(options, name)));
}

async function tryModel(options: TriedModelsOptions, model: string): Promise<CheckResult> {
  const name = `Model ${model}`;
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
    return {
      name,
      verdict: 'warning',
      detail: 'is not in MODELS_FILE, and gave no answer by which to propose an entry',
    };
  const entry: WrittenEntry = {
    ...(await wayOf(ask, entriesOfFamily(model, options.known))),
    name: model,
    images: picture.answers ? true : undefined,
    tools: tools.answers ? undefined : false,
  };
  return {
    name,
    verdict: 'warning',
    detail: 'is not in MODELS_FILE: it gets text and tools, no images, no thinking',
    nextStep: `From a few small trials this entry fits, add it to ${options.modelsFile}: ${JSON.stringify(inOrder(entry))}`,
  };
}

type Ask = (fields: object, content?: unknown) => Promise<Trial>;

/** Beside the name, how a known model of the family is asked, where it is seen to fit; else the first way that is. */
async function wayOf(ask: Ask, known: readonly WrittenEntry[]): Promise<Omit<WrittenEntry, 'name'>> {
  for (const entry of known) {
    // What it can is tried by itself.
    const { images: _images, tools: _tools, label: _label, upstream: _upstream, ...way } = entry;
    // The likeliest does not think; a thought that is seen is still found below.
    if (way.thinking === undefined) break;
    if (await fits(ask, way, true)) return way;
  }
  for (const way of WAYS) if (await fits(ask, way, false)) return way;
  return {};
}

/**
 * Whether thinking can be switched on and off so, as seen from the answers.
 * @param isKnown that of a known model: where levels stand, it may also keep its thought to itself and take both
 */
async function fits(ask: Ask, way: Way, isKnown: boolean): Promise<boolean> {
  const entry = filledIn({ name: 'tried', ...way });
  const isOn = await ask(thinkingFields(entry, 'high'));
  const mayHide = isKnown && way.thinking === 'reasoning_effort' && way.levels !== undefined;
  if (!isOn.answers || !(isOn.thinks || mayHide)) return false;
  const isOff = await ask(thinkingFields(entry, 'off'));
  return isOff.answers && !isOff.thinks;
}

/** The name first, as people write it. */
function inOrder({ name, ...rest }: WrittenEntry): WrittenEntry {
  return { name, ...rest };
}

/** What one small question showed. */
interface Trial {
  answers: boolean;
  thinks: boolean;
}

/** Streamed, as the bot asks: some engines think only so. */
async function askOnce(
  place: ChatPlace,
  { model, content, fields }: { model: string; content: unknown; fields: object },
): Promise<Trial> {
  const messages = [{ role: 'user', content }];
  const answer = await askBriefly(place, { model, messages, max_tokens: TRIAL_TOKENS, stream: true, ...fields });
  const answers = 'body' in answer && answer.status === 200 && /"choices"\s*:\s*\[\s*\{/.test(answer.body);
  return { answers, thinks: answers && showsThought(answer.body) };
}

/** A thought of its own, a part of a list, or between tags at the beginning of the text. */
function showsThought(body: string): boolean {
  return (
    /"reasoning(?:_content)?"\s*:\s*"[^"]/.test(body) ||
    /"type"\s*:\s*"thinking"/.test(body) ||
    /"content"\s*:\s*"\s*<think>/.test(body)
  );
}
