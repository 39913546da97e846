import type { ChatEvent, EndReason, ToolCall } from '../chat-types.ts';
import { ThoughtTags } from '../../models/thought-tags.ts';
import type { CompletionChunk, ToolCallPiece } from './completion-chunk.ts';

const REASONS: Readonly<Record<string, EndReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
  sensitive: 'content_filter',
  // What engines say where they gave up in the middle.
  insufficient_system_resource: 'truncated',
  network_error: 'truncated',
  error: 'truncated',
  abort: 'truncated',
};

/** More calls than this in one answer is a runaway model; further ones are left out. */
const MAX_TOOL_CALLS = 64;

/** Fourth layer: chunks to chat events. Joins the pieces of tool calls, keeps the text inside its cap, finds the end. */
export class AnswerAssembler {
  readonly #maxAnswerChars: number;
  readonly #calls = new Map<number, ToolCall>();
  /** Under which of our keys the newest call of an index of the service's stands. */
  readonly #keysByIndex = new Map<number, number>();
  #lastKey: number | undefined;
  #textChars = 0;
  /** Until the answer's own text has begun. */
  #tags: ThoughtTags | undefined = new ThoughtTags();
  /** Half of a character outside the basic plane, until its other half comes: every delta is well-formed. */
  #half = '';
  #finishReason: string | undefined;
  /** The last word on it: some engines count on with each chunk. */
  #usage: CompletionChunk['usage'];
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
    if (chunk.reasoning !== '') {
      // An engine that names its thought writes no tags of its own.
      this.#tags = undefined;
      events.push({ type: 'reasoning', delta: chunk.reasoning });
    }
    if (chunk.text !== '') this.#addParted(chunk.text, events, false);
    for (const piece of chunk.toolCalls) this.#addPiece(piece);
    this.#usage = chunk.usage ?? this.#usage;
    this.#finishReason ??= chunk.finishReason;
  }

  /**
   * The last events. @param sawDone whether the service marked the end itself; complete is a finish reason or that
   * mark (SECURITY.md whole-answers)
   */
  end(sawDone: boolean): ChatEvent[] {
    const events: ChatEvent[] = [];
    this.#addParted('', events, true);
    if (this.#half !== '') events.push({ type: 'text', delta: '\uFFFD' });
    const reason = this.#reason(sawDone);
    if (this.#usage) events.push({ type: 'usage', ...this.#usage });
    if (reason !== 'truncated' && !this.#isFull) {
      for (const [index, call] of this.#calls) {
        // What was never named cannot be called.
        if (call.name !== '')
          events.push({ type: 'tool-call', index, ...call, callId: call.callId || `call-${index}` });
      }
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

  /** Some engines write the thought into the text, between tags at its beginning. */
  #addParted(piece: string, events: ChatEvent[], isLast: boolean): void {
    if (!this.#tags) {
      if (piece !== '') this.#addText(piece, events);
      return;
    }
    const { thought, text } = this.#tags.part(piece, isLast);
    if (thought !== '') events.push({ type: 'reasoning', delta: thought });
    if (text !== '') this.#addText(text, events);
    if (this.#tags.isOver) this.#tags = undefined;
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
    const key = this.#keyOf(piece);
    if (piece.index !== undefined) this.#keysByIndex.set(piece.index, key);
    this.#lastKey = key;
    const known = this.#calls.get(key);
    const { callId = '', name = '', argumentsJson } = piece;
    if (known) {
      known.argumentsJson += argumentsJson;
      known.callId ||= callId;
      known.name ||= name;
    } else if (this.#calls.size < MAX_TOOL_CALLS) {
      this.#calls.set(key, { callId, name, argumentsJson });
    }
  }

  /**
   * Which call a piece belongs to. Services that leave the index out start each call with its id, or only with its name;
   * some give every call the same index and tell them apart by their ids alone.
   */
  #keyOf({ index, callId, name }: ToolCallPiece): number {
    const current = index === undefined ? this.#lastKey : this.#keysByIndex.get(index);
    const known = current === undefined ? undefined : this.#calls.get(current);
    if (current === undefined || known === undefined)
      return index === undefined || this.#calls.has(index) ? this.#freeKey() : index;
    if (callId === undefined) {
      const isNamedAnew = index === undefined && known.callId === '' && known.name !== '' && name !== undefined;
      return isNamedAnew ? this.#freeKey() : current;
    }
    if (known.callId === callId || known.callId === '') return current;
    const named = [...this.#calls].find(([, call]) => call.callId === callId);
    if (named) return named[0];
    return index === undefined || name !== undefined ? this.#freeKey() : current;
  }

  #freeKey(): number {
    return Math.max(-1, ...this.#calls.keys()) + 1;
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
