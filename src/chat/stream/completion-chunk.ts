import { ChatError } from '../chat-error.ts';
import { readContent } from '../../models/content-parts.ts';
import { mapHttpStatus } from '../map-http-status.ts';

/** A piece of a tool call; the first piece names it, later ones append to its arguments. */
export interface ToolCallPiece {
  index: number | undefined;
  callId: string | undefined;
  name: string | undefined;
  argumentsJson: string;
}

/** What one streamed chunk, or one whole completion, says. Everything else in it is passed over. */
export interface CompletionChunk {
  /** Whether it held a reply at all; usage and keep-alive chunks come without. */
  hasReply: boolean;
  text: string;
  reasoning: string;
  toolCalls: readonly ToolCallPiece[];
  finishReason: string | undefined;
  usage: { promptTokens: number; completionTokens: number } | undefined;
}

type JsonObject = Readonly<Record<string, unknown>>;

const NO_TOOL_CALLS: readonly ToolCallPiece[] = [];

/**
 * Third layer: one payload to one chunk. Reads streamed chunks (`delta`) and whole completions (`message`) alike.
 * @throws ChatError `chat_bad_stream` when it is no JSON object, or what the service's own error object stands for
 */
export function readChunk(payload: string): CompletionChunk {
  const body = parseObject(payload);
  if (body === undefined) throw new ChatError('chat_bad_stream', 'The chat service sent a malformed chunk');
  // Some engines write `"error": null` into every chunk.
  if (body['error'] !== undefined && body['error'] !== null) throw failureOfErrorObject(body['error']);
  if (hasFailedBaseResponse(body['base_resp'])) throw failureOfErrorObject(body);
  const choice = firstChoice(body['choices']);
  const delta = asObject(choice?.['delta']);
  const reply = delta ?? asObject(choice?.['message']);
  const { text, thought } = readContent(reply?.['content']);
  return {
    hasReply: reply !== undefined,
    text,
    reasoning: asText(reply?.['reasoning_content']) || asText(reply?.['reasoning']) || thought,
    toolCalls: readToolCalls(reply?.['tool_calls'], delta === undefined),
    finishReason: asText(choice?.['finish_reason']) || undefined,
    // Some engines write it beside the finish reason.
    usage: readUsage(body['usage']) ?? readUsage(choice?.['usage']),
  };
}

/** Reads a JSON object; undefined for anything else. The parser's own error is dropped since it quotes the text. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The error that an error object inside an answer of status 200 stands for. */
export function failureOfErrorObject(error: unknown): ChatError {
  return mapHttpStatus(200, { body: error });
}

/** MiniMax writes its result beside the choices, with 0 for success. */
function hasFailedBaseResponse(result: unknown): boolean {
  const code = asObject(result)?.['status_code'];
  return code !== undefined && Number(code) !== 0;
}

function firstChoice(choices: unknown): JsonObject | undefined {
  if (!Array.isArray(choices)) return undefined;
  const found: unknown = choices.find((choice) => (asObject(choice)?.['index'] ?? 0) === 0);
  return asObject(found);
}

/** In a whole reply each entry is a call of its own; in a stream several pieces may belong to one. */
function readToolCalls(calls: unknown, isWhole: boolean): readonly ToolCallPiece[] {
  if (!Array.isArray(calls) || calls.length === 0) return NO_TOOL_CALLS;
  return calls.map((call: unknown, position) => {
    const piece = asObject(call);
    const declared = asObject(piece?.['function']);
    const index = piece?.['index'];
    return {
      index: isWhole ? position : typeof index === 'number' && Number.isInteger(index) ? index : undefined,
      callId: asText(piece?.['id']) || undefined,
      name: asText(declared?.['name']) || undefined,
      argumentsJson: asArguments(declared?.['arguments']),
    };
  });
}

/** JSON text, as the interface is described; some engines send the object itself, which is whole then. */
function asArguments(given: unknown): string {
  return asObject(given) ? JSON.stringify(given) : asText(given);
}

function readUsage(usage: unknown): CompletionChunk['usage'] {
  const counts = asObject(usage);
  const promptTokens = counts?.['prompt_tokens'];
  const completionTokens = counts?.['completion_tokens'];
  if (!isCount(promptTokens) || !isCount(completionTokens)) return undefined;
  return { promptTokens, completionTokens };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
