import { z } from 'zod';
import { ChatApiError } from './chat-api-error.ts';
import { firstFault, listOf, must, optional } from './field-rules.ts';
import { imagesOf, isDataUrl, messageSchema, relayedMessageSchema, type ChatMessage } from './chat-message.ts';
import { isDeeperThan, MAX_LEVELS } from './json-depth.ts';
import { relayedToolSchema, toolSchema, type ToolDeclaration } from './tool-declaration.ts';
import { pickRelayed } from './relayed-fields.ts';
import type { ModelEntry } from '../../shared/models/model-entry.ts';

/** A validated chat request. */
export interface ChatRequest {
  model: ModelEntry;
  /** Fields other than messages and tools that are sent to the engine, as the caller wrote them. */
  written: Readonly<Record<string, unknown>>;
  /** Number of further fields that are not relayed. */
  droppedFields: number;
  /** Number of requested answers. */
  answers: number;
  messages: ChatMessage[];
  stream: boolean;
  /** A last chunk with the usage was requested (`stream_options.include_usage`). */
  includeUsage: boolean;
  /** Undefined if the caller did not set it; a model with this `thinking` object then does not think. */
  thinking: 'enabled' | 'disabled' | undefined;
  reasoningEffort: string | undefined;
  tools: ToolDeclaration[];
  toolChoice: ToolChoice;
}

/** Tool choice: a name, any tool, none, or the model's decision. */
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string };

const MAX_MESSAGES = 10_000;
const MAX_TOOLS = 256;
/** Each answer of `n` costs the engine as much as a separate request. */
const MAX_ANSWERS = 4;
/** Error for a model without levels, so that a value unknown to every model is reported as such. */
const DEFAULT_LEVELS = ['low', 'high', 'max'];

const BE_MODEL = { error: must('the name of a model') };
const BE_SHARE = { error: must('a number from 0 to 1') };
const BE_FLAG = { error: must('true or false') };
const BE_ANSWERS = { error: must(`a whole number from 1 to ${MAX_ANSWERS}`) };
const BE_FORMAT = { error: must('text, json_object or json_schema') };
const BE_SWITCH = { error: must('an object whose type is enabled or disabled') };

const listOfMessages = <S extends z.ZodType>(message: S) =>
  listOf(message, { min: 1, max: MAX_MESSAGES, be: `a list of 1 to ${MAX_MESSAGES.toLocaleString('en')} messages` });
const listOfTools = <S extends z.ZodType>(tool: S) =>
  optional(listOf(tool, { max: MAX_TOOLS, be: `a list of at most ${MAX_TOOLS} function declarations` }));

/** Unlisted fields are ignored, including those of the withdrawn web search. */
const bodySchema = z.object({
  messages: listOfMessages(messageSchema),
  model: z.string(BE_MODEL).min(1, BE_MODEL),
  stream: optional(z.boolean(BE_FLAG)),
  // The valid range depends on the model.
  temperature: z.unknown().optional(),
  top_p: optional(z.number(BE_SHARE).min(0, BE_SHARE).max(1, BE_SHARE)),
  // Thinking fields of other dialects are validated by the engine.
  thinking: z.unknown().optional(),
  reasoning_effort: z.unknown().optional(),
  tools: listOfTools(toolSchema),
  // Not part of the interface, but sent by most clients: used if valid, otherwise ignored.
  stream_options: z.object({ include_usage: z.boolean().optional() }).optional().catch(undefined),
  tool_choice: z
    .union([z.enum(['auto', 'none', 'required']), z.object({ function: z.object({ name: z.string() }) })])
    .optional()
    .catch(undefined),
});

/** With an engine, which judges tools and content itself (SERVICE.md engine). */
const relayedBodySchema = bodySchema.extend({
  messages: listOfMessages(relayedMessageSchema),
  tools: listOfTools(relayedToolSchema),
});

type ChatBody = z.infer<typeof bodySchema> | z.infer<typeof relayedBodySchema>;

const switchSchema = optional(
  z.object({ type: z.enum(['enabled', 'disabled'], { error: must('enabled or disabled') }) }, BE_SWITCH),
);

/** Validated only if they are sent to an engine; otherwise ignored. */
const relayedSchema = z.object({
  n: optional(z.int(BE_ANSWERS).min(1, BE_ANSWERS).max(MAX_ANSWERS, BE_ANSWERS)),
  response_format: optional(
    z.object(
      { type: z.enum(['text', 'json_object', 'json_schema'], BE_FORMAT) },
      { error: must('an object with a type') },
    ),
  ),
});

/** Additional permissions configured by the operator. */
export interface RequestRules {
  /** Names of request fields to relay in addition to the standard ones. */
  relayedFields: readonly string[];
  /** Whether images may be http or https URLs, which the engine fetches. */
  imageAddresses: boolean;
}

/**
 * Validates a parsed JSON body by the interface's field table.
 * @param rules of the engine that answers; without one nothing is relayed
 * @throws ChatApiError 400 whose `param` names the field, or 404 `model_not_found`
 */
export function readChatRequest(
  body: unknown,
  models: ReadonlyMap<string, ModelEntry>,
  rules?: RequestRules,
): ChatRequest {
  const fields: ChatBody = rules ? readFields(relayedBodySchema, body) : readFields(bodySchema, body);
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
  if (index >= 0)
    throw refused(`messages[${index}].content`, `must contain text only: ${name} does not support images`);
}

/** A URL would make the engine send a request from its own network (SECURITY.md relayed-fields). */
function checkImageAddresses({ messages }: ChatBody): void {
  const index = messages.findIndex((message) => imagesOf(message).some((url) => !isDataUrl(url)));
  if (index >= 0) throw refused(`messages[${index}].content`, 'must contain images as data URLs, not as addresses');
}

/** Validates only the interface's own dialect (SERVICE.md request-fields). Other dialects are validated by their engines. */
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
  const known = levels.length > 0 ? levels : DEFAULT_LEVELS;
  const told = `${known.slice(0, -1).join(', ')}${known.length > 1 ? ' or ' : ''}${known.at(-1)}`;
  const error = { error: must(told) };
  return optional(z.string(error).refine((level) => known.includes(level), error));
}

/** @param known the model names that may be requested */
export function unknownModel(known: readonly string[]): ChatApiError {
  return new ChatApiError(
    'model_not_found',
    `There is no model of this name; available models are ${known.join(', ')}`,
    {
      param: 'model',
    },
  );
}

function refused(param: string, fault: string): ChatApiError {
  return new ChatApiError('invalid_value', `${param} ${fault}`, { param });
}
