import { createParser } from 'eventsource-parser';
import { MIB_BYTES } from '../../base/clock.ts';
import { ChatApiError } from '../chat/chat-api-error.ts';
import type { EngineReply } from './own-reply.ts';

/** A line that never ends must not fill the memory. */
const MAX_EVENT_CHARS = MIB_BYTES;

/**
 * Reads an engine's server-sent events as JSON objects until `[DONE]`. An end without it counts as complete only after a
 * finish reason: otherwise the engine broke off.
 * @throws ChatApiError `unavailable`
 */
export async function* readEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<EngineReply> {
  const waiting: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => void waiting.push(data) });
  const decoder = new TextDecoder();
  let hasFinished = false;
  let charsSinceEvent = 0;
  for await (const part of bytes) {
    const text = decoder.decode(part, { stream: true });
    parser.feed(text);
    charsSinceEvent = waiting.length > 0 ? 0 : charsSinceEvent + text.length;
    if (charsSinceEvent > MAX_EVENT_CHARS) throw broken('The engine sent a line without end');
    for (const data of waiting.splice(0)) {
      if (data === '[DONE]') return;
      const reply = parse(data);
      hasFinished ||= /"finish_reason"\s*:\s*"/.test(data);
      yield reply;
    }
  }
  if (!hasFinished) throw broken('The engine broke off its answer');
}

function parse(data: string): EngineReply {
  try {
    const reply: unknown = JSON.parse(data);
    if (typeof reply === 'object' && reply !== null && !('error' in reply && reply.error)) return reply;
  } catch {
    // Falls through: what cannot be read is told without its content.
  }
  throw broken('The engine sent something that makes no sense');
}

function broken(message: string): ChatApiError {
  return new ChatApiError('unavailable', message);
}
