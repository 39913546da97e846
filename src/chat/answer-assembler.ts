import type { ChatEvent, EndReason, ToolCall } from './chat-types.ts';
import type { CompletionChunk, ToolCallPiece } from './completion-chunk.ts';

const REASONS: Readonly<Record<string, EndReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
};

/** More calls than this in one answer is a runaway model; further ones are left out. */
const MAX_TOOL_CALLS = 64;

/** Fourth layer: chunks to chat events. Joins the pieces of tool calls, keeps the text inside its cap, finds the end. */
export class AnswerAssembler {
  readonly #maxAnswerChars: number;
  readonly #calls = new Map<number, ToolCall>();
  #lastIndex = -1;
  #textChars = 0;
  /** Half of a character outside the basic plane, until its other half comes: every delta is well-formed. */
  #half = '';
  #finishReason: string | undefined;
  #isFull = false;

  constructor(maxAnswerChars: number) {
    this.#maxAnswerChars = maxAnswerChars;
  }

  /** Whether the service has said why the answer ended; what comes after is usage at most. */
  get isFinished(): boolean {
    return this.#finishReason !== undefined;
  }

  /** Whether the text has reached its cap: nothing more needs to be read. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Whether the finish reason is one that this version does not know. */
  get hasUnknownReason(): boolean {
    return this.#finishReason !== undefined && REASONS[this.#finishReason] === undefined;
  }

  /** Appends the chunk's events to `events`. */
  add(chunk: CompletionChunk, events: ChatEvent[]): void {
    if (chunk.reasoning !== '') events.push({ type: 'reasoning', delta: chunk.reasoning });
    if (chunk.text !== '') this.#addText(chunk.text, events);
    for (const piece of chunk.toolCalls) this.#addPiece(piece);
    if (chunk.usage) events.push({ type: 'usage', ...chunk.usage });
    this.#finishReason ??= chunk.finishReason;
  }

  /**
   * The last events. @param sawDone whether the service marked the end itself; complete is a finish reason or that
   * mark (security.md 5.4)
   */
  end(sawDone: boolean): ChatEvent[] {
    const events: ChatEvent[] = this.#half === '' ? [] : [{ type: 'text', delta: '\uFFFD' }];
    const reason = this.#reason(sawDone);
    if (reason !== 'truncated' && !this.#isFull) {
      for (const [index, call] of this.#calls) events.push({ type: 'tool-call', index, ...call });
    }
    events.push({ type: 'end', reason });
    return events;
  }

  #reason(sawDone: boolean): EndReason {
    if (this.#isFull) return 'length';
    if (this.#finishReason !== undefined) return REASONS[this.#finishReason] ?? 'other';
    if (!sawDone) return 'truncated';
    return this.#calls.size > 0 ? 'tool_calls' : 'stop';
  }

  #addText(text: string, events: ChatEvent[]): void {
    const room = this.#maxAnswerChars - this.#textChars;
    let delta = this.#half + text;
    this.#half = '';
    if (delta.length > room) {
      this.#isFull = true;
      delta = delta.slice(0, room);
    }
    if (isHighSurrogate(delta.charCodeAt(delta.length - 1))) {
      if (!this.#isFull) this.#half = delta.slice(-1);
      delta = delta.slice(0, -1);
    }
    this.#textChars += delta.length;
    if (delta === '') return;
    const last = events.at(-1);
    // What came in one piece is handed on in one piece: a reader that is behind catches up at the price of one event.
    if (last?.type === 'text') last.delta += delta;
    else events.push({ type: 'text', delta });
  }

  #addPiece(piece: ToolCallPiece): void {
    const index = piece.index ?? this.#indexOf(piece.callId);
    this.#lastIndex = index;
    const known = this.#calls.get(index);
    if (known) {
      known.argumentsJson += piece.argumentsJson;
      return;
    }
    if (this.#calls.size >= MAX_TOOL_CALLS || piece.name === undefined) return;
    this.#calls.set(index, {
      callId: piece.callId ?? `call-${index}`,
      name: piece.name,
      argumentsJson: piece.argumentsJson,
    });
  }

  /** Services that leave the index out start each call with its id. */
  #indexOf(callId: string | undefined): number {
    if (callId === undefined) return Math.max(0, this.#lastIndex);
    for (const [index, call] of this.#calls) if (call.callId === callId) return index;
    return this.#calls.size;
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
