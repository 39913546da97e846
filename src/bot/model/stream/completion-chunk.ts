import { ChatError } from '../chat-error.ts';
import { readToolCallDeltas, type ToolCallDelta } from '../../../shared/models/call-pieces.ts';
import { readContent, readThought } from '../../../shared/models/content-parts.ts';
import { errorIn, type Payload } from '../../../shared/models/stream-payload.ts';
import { mapHttpStatus } from '../map-http-status.ts';
import { asObject, parseJson, type JsonObject } from '../../../shared/parse-json.ts';

/** Contents of one streamed chunk or one complete response. All other fields are ignored. */
export interface CompletionChunk {
  /** Whether the chunk contains a reply; usage and keep-alive chunks do not. */
  hasReply: boolean;
  /** Whether the reply is in `message`, as in complete responses. In a stream, it repeats all previous chunks. */
  isMessage: boolean;
  text: string;
  reasoning: string;
  toolCalls: readonly ToolCallDelta[];
  finishReason: string | undefined;
  usage: { promptTokens: number; completionTokens: number } | undefined;
}

/**
 * Third layer: one payload to one chunk. Reads streamed chunks (`delta`) and complete responses (`message`) alike.
 * @throws ChatError `chat_bad_stream` for a torn object, or the error that the service reports
 */
export function readChunk(body: Payload): CompletionChunk | undefined {
  if (body === 'torn') throw new ChatError('chat_bad_stream', 'The chat service sent a malformed chunk');
  if (typeof body === 'string') return undefined;
  const error = errorIn(body);
  if (error !== undefined) throw failureOf(error);
  const choice = firstChoice(body['choices']);
  const delta = asObject(choice?.['delta']);
  const message = asObject(choice?.['message']);
  const isMessage = message !== undefined && (delta === undefined || Object.keys(delta).length === 0);
  const reply = isMessage ? message : delta;
  const { text, thought } = readContent(reply?.['content']);
  return {
    hasReply: reply !== undefined,
    isMessage,
    text: text || asText(reply?.['refusal']) || (reply ? '' : asText(choice?.['text'])),
    reasoning: readThought(reply) || thought,
    toolCalls: readToolCallDeltas(reply, isMessage),
    finishReason: asText(choice?.['finish_reason']) || undefined,
    // Some engines send the usage next to the finish reason.
    usage: readUsage(body['usage']) ?? readUsage(choice?.['usage']),
  };
}

/** Parses a JSON object; undefined for anything else. */
export function parseObject(text: string): JsonObject | undefined {
  return asObject(parseJson(text));
}

/** Maps an error inside a response with status 200. @param error an object or a text; not stored */
export function failureOf(error: unknown): ChatError {
  return mapHttpStatus(200, { body: error });
}

function firstChoice(choices: unknown): JsonObject | undefined {
  if (!Array.isArray(choices)) return undefined;
  const found: unknown = choices.find((choice) => Number(asObject(choice)?.['index'] ?? 0) === 0);
  return asObject(found);
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

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
