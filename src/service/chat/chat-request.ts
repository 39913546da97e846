import { z } from 'zod';
import { ChatApiError } from './chat-api-error.ts';
import { firstFault, listOf, must, optional } from './field-rules.ts';
import { messageSchema, type ChatMessage } from './chat-message.ts';
import { toolSchema, type ToolDeclaration } from './tool-declaration.ts';
import type { ModelEntry } from './model-table.ts';

/** A chat request that was found in order; sampling values are filled in from the model's defaults. */
export interface ChatRequest {
  model: ModelEntry;
  messages: ChatMessage[];
  stream: boolean;
  /** A last chunk with the usage was asked for (`stream_options.include_usage`). */
  includeUsage: boolean;
  temperature: number;
  topP: number;
  /** Undefined when the caller did not say; thinking is off then. */
  thinking: 'enabled' | 'disabled' | undefined;
  reasoningEffort: 'low' | 'high' | 'max' | undefined;
  tools: ToolDeclaration[];
  toolChoice: ToolChoice;
}

/** Which tool must be called: a name, any, none, or as the model sees fit. */
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string };

const MAX_MESSAGES = 10_000;
const MAX_TOOLS = 256;

const BE_MODEL = { error: must('the name of a model') };
const BE_SHARE = { error: must('a number from 0 to 1') };
const BE_FLAG = { error: must('true or false') };
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
  temperature: optional(z.number(BE_SHARE).min(0, BE_SHARE).max(1, BE_SHARE)),
  top_p: optional(z.number(BE_SHARE).min(0, BE_SHARE).max(1, BE_SHARE)),
  thinking: optional(
    z.object({ type: z.enum(['enabled', 'disabled'], { error: must('enabled or disabled') }) }, BE_SWITCH),
  ),
  reasoning_effort: optional(z.enum(['low', 'high', 'max'], { error: must('low, high or max') })),
  tools: optional(listOf(toolSchema, { max: MAX_TOOLS, be: `a list of at most ${MAX_TOOLS} function declarations` })),
  // Beyond the interface's own fields, but sent by most clients: read when it makes sense, else ignored.
  stream_options: z.object({ include_usage: z.boolean().optional() }).optional().catch(undefined),
  tool_choice: z
    .union([z.enum(['auto', 'none', 'required']), z.object({ function: z.object({ name: z.string() }) })])
    .optional()
    .catch(undefined),
});

type ChatBody = z.infer<typeof bodySchema>;

/**
 * Judges a parsed JSON body by the interface's field table.
 * @throws ChatApiError 400 whose `param` names the field, or 404 `model_not_found`
 */
export function readChatRequest(body: unknown, models: ReadonlyMap<string, ModelEntry>): ChatRequest {
  const parsed = bodySchema.safeParse(body);
  if (!parsed.success) {
    const fault = firstFault(parsed.error);
    if (!fault) throw new ChatApiError('invalid_json', 'The body must be a JSON object');
    throw new ChatApiError('invalid_value', fault.message, { param: fault.param });
  }
  const fields = parsed.data;
  const model = models.get(fields.model);
  if (!model)
    throw new ChatApiError(
      'model_not_found',
      `There is no model of this name; known are ${[...models.keys()].join(', ')}`,
      { param: 'model' },
    );
  checkAbilities(fields, model);
  return {
    model,
    messages: fields.messages,
    stream: fields.stream ?? false,
    includeUsage: fields.stream_options?.include_usage ?? false,
    temperature: fields.temperature ?? model.defaults.temperature,
    topP: fields.top_p ?? model.defaults.topP,
    thinking: fields.thinking?.type,
    reasoningEffort: fields.reasoning_effort,
    tools: fields.tools ?? [],
    toolChoice:
      typeof fields.tool_choice === 'object'
        ? { name: fields.tool_choice.function.name }
        : (fields.tool_choice ?? 'auto'),
  };
}

function checkAbilities(fields: ChatBody, { id, abilities }: ModelEntry): void {
  const thinks = fields.thinking?.type === 'enabled';
  if (thinks && !abilities.thinking) throw refused('thinking.type', `must be disabled: ${id} has no thinking mode`);
  if (fields.reasoning_effort !== undefined) {
    if (!abilities.reasoningEffort) throw refused('reasoning_effort', `must be left out: ${id} does not support it`);
    if (!thinks) throw refused('reasoning_effort', 'must be left out unless thinking is enabled');
  }
  const index = fields.messages.findIndex(({ content }) => Array.isArray(content));
  if (index >= 0 && !abilities.images) {
    throw refused(`messages[${index}].content`, `must be a string: ${id} takes text only`);
  }
}

function refused(param: string, fault: string): ChatApiError {
  return new ChatApiError('invalid_value', `${param} ${fault}`, { param });
}
