import { z } from 'zod';
import { ChatApiError } from './chat-api-error.ts';
import { firstFault, listOf, must, optional } from './field-rules.ts';
import { imagesOf, isDataUrl, messageSchema, type ChatMessage } from './chat-message.ts';
import { isDeeperThan, MAX_LEVELS } from './json-depth.ts';
import { toolSchema, type ToolDeclaration } from './tool-declaration.ts';
import { pickRelayed } from './relayed-fields.ts';
import type { ModelEntry } from '../../shared/models/model-entry.ts';

/** A chat request that was found in order. */
export interface ChatRequest {
  model: ModelEntry;
  /** The fields beside messages and tools that an engine is given, as the caller wrote them. */
  written: Readonly<Record<string, unknown>>;
  /** How many fields beside messages and tools are not relayed. */
  droppedFields: number;
  /** How many answers are wanted. */
  answers: number;
  messages: ChatMessage[];
  stream: boolean;
  /** A last chunk with the usage was asked for (`stream_options.include_usage`). */
  includeUsage: boolean;
  /** Undefined when the caller did not say; a model that is asked by this object does not think then. */
  thinking: 'enabled' | 'disabled' | undefined;
  reasoningEffort: string | undefined;
  tools: ToolDeclaration[];
  toolChoice: ToolChoice;
}

/** Which tool must be called: a name, any, none, or as the model sees fit. */
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string };

const MAX_MESSAGES = 10_000;
const MAX_TOOLS = 256;
/** Each answer of `n` costs the engine as much as a request of its own. */
const MAX_ANSWERS = 4;
/** Told where a model takes none, so that a word that no model knows is named as such. */
const USUAL_LEVELS = ['low', 'high', 'max'];

const BE_MODEL = { error: must('the name of a model') };
const BE_SHARE = { error: must('a number from 0 to 1') };
const BE_FLAG = { error: must('true or false') };
const BE_ANSWERS = { error: must(`a whole number from 1 to ${MAX_ANSWERS}`) };
const BE_FORMAT = { error: must('text, json_object or json_schema') };
const BE_SWITCH = { error: must('an object whose type is enabled or disabled') };

/** Fields that are not listed, those of the withdrawn web search among them, are ignored. */
const bodySchema = z.object({
  messages: listOf(messageSchema, {
    min: 1,
    max: MAX_MESSAGES,
    be: `a list of 1 to ${MAX_MESSAGES.toLocaleString('en')} messages`,
  }),
  model: z.string(BE_MODEL).min(1, BE_MODEL),
  stream: optional(z.boolean(BE_FLAG)),
  // Its range is the model's.
  temperature: z.unknown().optional(),
  top_p: optional(z.number(BE_SHARE).min(0, BE_SHARE).max(1, BE_SHARE)),
  // Other dialects of thinking are the engine's own to judge.
  thinking: z.unknown().optional(),
  reasoning_effort: z.unknown().optional(),
  tools: optional(listOf(toolSchema, { max: MAX_TOOLS, be: `a list of at most ${MAX_TOOLS} function declarations` })),
  // Beyond the interface's own fields, but sent by most clients: read when it makes sense, else ignored.
  stream_options: z.object({ include_usage: z.boolean().optional() }).optional().catch(undefined),
  tool_choice: z
    .union([z.enum(['auto', 'none', 'required']), z.object({ function: z.object({ name: z.string() }) })])
    .optional()
    .catch(undefined),
});

type ChatBody = z.infer<typeof bodySchema>;

const switchSchema = optional(
  z.object({ type: z.enum(['enabled', 'disabled'], { error: must('enabled or disabled') }) }, BE_SWITCH),
);

/** Judged only where an engine is given them; they are ignored otherwise. */
const relayedSchema = z.object({
  n: optional(z.int(BE_ANSWERS).min(1, BE_ANSWERS).max(MAX_ANSWERS, BE_ANSWERS)),
  response_format: optional(
    z.object(
      { type: z.enum(['text', 'json_object', 'json_schema'], BE_FORMAT) },
      { error: must('an object with a type') },
    ),
  ),
});

/** What the operator allows beyond the interface's own rules. */
export interface RequestRules {
  /** Names of request fields that are relayed beside the standard ones. */
  relayedFields: readonly string[];
  /** Whether an image may be named by an http or https address, which the engine fetches. */
  imageAddresses: boolean;
}

/**
 * Judges a parsed JSON body by the interface's field table.
 * @param rules of the engine that answers; nothing is relayed without one
 * @throws ChatApiError 400 whose `param` names the field, or 404 `model_not_found`
 */
export function readChatRequest(
  body: unknown,
  models: ReadonlyMap<string, ModelEntry>,
  rules?: RequestRules,
): ChatRequest {
  const fields = readFields(bodySchema, body);
  const model = models.get(fields.model);
  if (!model) throw unknownModel([...models.keys()]);
  if (isDeeperThan(MAX_LEVELS, fields.messages)) throw refused('messages', `must have at most ${MAX_LEVELS} levels`);
  checkSampling(fields, model);
  checkImages(fields, model);
  if (rules && !rules.imageAddresses) checkImageAddresses(fields);
  const { n: answers } = rules ? readFields(relayedSchema, body) : {};
  return {
    model,
    ...pickRelayed(body as Record<string, unknown>, model, rules?.relayedFields ?? []),
    answers: answers ?? 1,
    messages: fields.messages,
    stream: fields.stream ?? false,
    includeUsage: fields.stream_options?.include_usage ?? false,
    ...readThinking(fields, model),
    tools: fields.tools ?? [],
    toolChoice:
      typeof fields.tool_choice === 'object'
        ? { name: fields.tool_choice.function.name }
        : (fields.tool_choice ?? 'auto'),
  };
}

/** @throws ChatApiError 400 whose `param` names the field */
function readFields<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const fault = firstFault(parsed.error);
  if (!fault) throw new ChatApiError('invalid_json', 'The body must be a JSON object');
  throw new ChatApiError('invalid_value', fault.message, { param: fault.param });
}

function checkSampling({ temperature }: ChatBody, { temperature: { min, max } }: ModelEntry): void {
  if (temperature === undefined || temperature === null) return;
  const fits = typeof temperature === 'number' && temperature >= min && temperature <= max;
  if (!fits) throw refused('temperature', `must be a number from ${min} to ${max}`);
}

function checkImages({ messages }: ChatBody, { name, seesImages }: ModelEntry): void {
  if (seesImages) return;
  const index = messages.findIndex((message) => imagesOf(message).length > 0);
  if (index >= 0) throw refused(`messages[${index}].content`, `must hold text only: ${name} does not see images`);
}

/** An address would have the engine send a request from its own network (SECURITY.md relayed-fields). */
function checkImageAddresses({ messages }: ChatBody): void {
  const index = messages.findIndex((message) => imagesOf(message).some((url) => !isDataUrl(url)));
  if (index >= 0) throw refused(`messages[${index}].content`, 'must hold images as data URLs, not as addresses');
}

/** Only the interface's own dialect is judged (SERVICE.md request-fields); what the others say is their engine's affair. */
function readThinking(fields: ChatBody, model: ModelEntry): Pick<ChatRequest, 'thinking' | 'reasoningEffort'> {
  if (model.thinking !== 'thinking') return { thinking: undefined, reasoningEffort: undefined };
  const { thinking, reasoning_effort: reasoningEffort } = readFields(
    z.object({ thinking: switchSchema, reasoning_effort: levelSchema(model.levels) }),
    { thinking: fields.thinking, reasoning_effort: fields.reasoning_effort },
  );
  const thinks = thinking?.type === 'enabled';
  if (reasoningEffort !== undefined) {
    if (model.levels.length === 0)
      throw refused('reasoning_effort', `must be left out: ${model.name} does not support it`);
    if (!thinks) throw refused('reasoning_effort', 'must be left out unless thinking is enabled');
  }
  return { thinking: thinking?.type, reasoningEffort };
}

function levelSchema(levels: readonly string[]) {
  const known = levels.length > 0 ? levels : USUAL_LEVELS;
  const told = `${known.slice(0, -1).join(', ')}${known.length > 1 ? ' or ' : ''}${known.at(-1)}`;
  const error = { error: must(told) };
  return optional(z.string(error).refine((level) => known.includes(level), error));
}

/** @param known the names that may be asked for */
export function unknownModel(known: readonly string[]): ChatApiError {
  return new ChatApiError('model_not_found', `There is no model of this name; known are ${known.join(', ')}`, {
    param: 'model',
  });
}

function refused(param: string, fault: string): ChatApiError {
  return new ChatApiError('invalid_value', `${param} ${fault}`, { param });
}
