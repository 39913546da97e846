import type { ChatRequest } from '../chat/chat-request.ts';

/** What an engine sends, as far as we look at it; everything else passes through untouched. */
export interface EngineReply {
  model?: unknown;
  choices?: unknown;
}

/**
 * An engine's reply or chunk as this interface shows it: our model's name; `reasoning_content`, also where the engine calls it
 * `reasoning`, and only while thinking is on; no `finish_reason` that is null.
 */
export function toOwnReply(reply: EngineReply, request: ChatRequest): object {
  const choices = Array.isArray(reply.choices)
    ? reply.choices.map((choice: unknown) => ownChoice(choice, request.thinking === 'enabled'))
    : [];
  return { ...reply, model: request.model.id, choices };
}

function ownChoice(choice: unknown, isThinking: boolean): unknown {
  if (!isRecord(choice)) return choice;
  const { finish_reason: finishReason, ...others } = choice;
  for (const name of ['delta', 'message']) {
    if (isRecord(others[name])) others[name] = ownMessage(others[name], isThinking);
  }
  return finishReason === null || finishReason === undefined ? others : { ...others, finish_reason: finishReason };
}

function ownMessage(message: Record<string, unknown>, isThinking: boolean): Record<string, unknown> {
  const { reasoning, reasoning_content: content, ...others } = message;
  const thought = content ?? reasoning;
  return isThinking && typeof thought === 'string' && thought !== ''
    ? { ...others, reasoning_content: thought }
    : others;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
