import { z } from 'zod';
import { ChatApiError } from './chat-api-error.ts';
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

/** Fields that are not listed, those of the withdrawn web search among them, are ignored. */
const bodySchema = z.object({
  messages: z.array(messageSchema).min(1).max(MAX_MESSAGES),
  model: z.string().min(1),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  thinking: z.object({ type: z.enum(['enabled', 'disabled']) }).optional(),
  reasoning_effort: z.enum(['low', 'high', 'max']).optional(),
  tools: z.array(toolSchema).max(MAX_TOOLS).optional(),
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
  if (!parsed.success) throw fieldError(parsed.error);
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

function checkAbilities(fields: ChatBody, model: ModelEntry): void {
  const thinks = fields.thinking?.type === 'enabled';
  if (thinks && !model.abilities.thinking) throw refused('thinking', `${model.id} has no thinking mode`);
  if (fields.reasoning_effort !== undefined) {
    if (!model.abilities.reasoningEffort)
      throw refused('reasoning_effort', `${model.id} does not support reasoning_effort`);
    if (!thinks) throw refused('reasoning_effort', 'reasoning_effort needs thinking to be enabled');
  }
  const index = fields.messages.findIndex(({ content }) => Array.isArray(content));
  if (index >= 0 && !model.abilities.images) {
    throw refused(`messages[${index}].content`, `${model.id} takes text only; content must be a string`);
  }
}

function refused(param: string, message: string): ChatApiError {
  return new ChatApiError('invalid_value', message, { param });
}

/** Names the first fault. zod's messages tell types and ranges, never the value itself. */
function fieldError(error: z.ZodError): ChatApiError {
  const issue = error.issues[0];
  if (!issue || issue.path.length === 0) return new ChatApiError('invalid_json', 'The body must be a JSON object');
  const param = issue.path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index > 0 ? '.' : ''}${String(step)}`))
    .join('');
  return refused(param, `${param}: ${issue.message}`);
}
