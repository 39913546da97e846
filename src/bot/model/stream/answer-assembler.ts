import type { ChatEvent, EndReason } from '../chat-types.ts';
import { ToolCallAssembler } from '../../../shared/models/call-pieces.ts';
import { readFinishReason } from '../../../shared/models/finish-reason.ts';
import { ReplyText, type Ending, type ReplyTextOptions } from '../../../shared/models/reply-text.ts';
import { StreamedText } from '../../../shared/models/whole-text.ts';
import type { CompletionChunk } from './completion-chunk.ts';

export interface AssemblerOptions extends ReplyTextOptions {
  maxAnswerChars: number;
}

/** Fourth layer: chunks to chat events. Joins fragments of tool calls, enforces the text limit and detects the end. */
export class AnswerAssembler {
  readonly #maxAnswerChars: number;
  readonly #calls = new ToolCallAssembler();
  readonly #text: ReplyText;
  /** The text as received, to detect repeated text. */
  readonly #whole = new StreamedText();
  #textChars = 0;
  #hasReasoning = false;
  #hasSaid = false;
  /** High surrogate that waits for its low surrogate, so that every delta is well-formed. */
  #half = '';
  #finishReason: string | undefined;
  /** The latest usage; some engines send a running total with each chunk. */
  #usage: CompletionChunk['usage'];
  #isFull = false;

  constructor(options: AssemblerOptions) {
    this.#maxAnswerChars = options.maxAnswerChars;
    this.#text = new ReplyText(options);
  }

  /** Whether the service has sent the finish reason. At most the usage follows. */
  get isFinished(): boolean {
    return this.#finishReason !== undefined;
  }

  /** Whether the text has reached its limit, so that no more input is needed. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Whether this version does not know the finish reason. */
  get hasUnknownReason(): boolean {
    return this.#finishReason !== undefined && readFinishReason(this.#finishReason) === undefined;
  }

  /** Appends the chunk's events to `events`. */
  add(chunk: CompletionChunk, events: ChatEvent[]): void {
    const isSummary = chunk.isMessage && this.#hasSaid;
    // The last chunk may repeat the complete reasoning.
    if (chunk.reasoning !== '' && !isSummary && !this.isFinished) {
      if (!this.#hasReasoning) this.#text.namesThought();
      this.#hasReasoning = true;
      events.push({ type: 'reasoning', delta: chunk.reasoning });
    }
    if (chunk.text !== '') this.#addChunkText(chunk, isSummary, events);
    if (isSummary) this.#calls.addSummary(chunk.toolCalls);
    else for (const piece of chunk.toolCalls) this.#calls.add(piece);
    this.#hasSaid = true;
    this.#usage = chunk.usage ?? this.#usage;
    this.#finishReason ??= chunk.finishReason;
  }

  /**
   * Returns the last events. @param sawDone whether the service sent the end marker; an answer is complete with a finish
   * reason or that marker (SECURITY.md whole-answers)
   */
  end(sawDone: boolean): ChatEvent[] {
    const events: ChatEvent[] = [];
    const ending = this.#ending(sawDone);
    this.#part('', ending, events);
    if (this.#half !== '') events.push({ type: 'text', delta: '\uFFFD' });
    const reason = this.#reason(sawDone);
    if (this.#usage) events.push({ type: 'usage', ...this.#usage });
    if (reason !== 'truncated' && !this.#isFull) {
      const ids = new Set<string>();
      for (const [index, { callId, ...call }] of this.#calls.list().entries()) {
        const ownId = callId === '' || ids.has(callId) ? `call-${index}` : callId;
        ids.add(ownId);
        events.push({ type: 'tool-call', index, callId: ownId, ...call });
      }
    }
    events.push({ type: 'end', reason });
    return events;
  }

  /** Text and reasoning held back in an answer that failed. */
  held(): ChatEvent[] {
    const events: ChatEvent[] = [];
    this.#part('', 'cut', events);
    return events;
  }

  #reason(sawDone: boolean): EndReason {
    if (this.#isFull) return 'length';
    if (this.#finishReason !== undefined) return readFinishReason(this.#finishReason) ?? 'other';
    if (!sawDone) return 'truncated';
    return this.#calls.isEmpty ? 'stop' : 'tool_calls';
  }

  #ending(sawDone: boolean): Ending {
    const reason = this.#reason(sawDone);
    return reason === 'truncated' ? 'cut' : reason === 'length' ? reason : 'whole';
  }

  #addChunkText(chunk: CompletionChunk, isSummary: boolean, events: ChatEvent[]): void {
    let { text } = chunk;
    const mayRepeat = isSummary || chunk.finishReason !== undefined || this.isFinished;
    if (mayRepeat) text = this.#whole.lastPiece(text, isSummary, this.isFinished);
    else this.#whole.add(text);
    if (this.#text.passes(text)) this.#addText(text, events);
    else this.#part(text, 'more', events);
  }

  /** Some engines write reasoning and tool calls into the text. */
  #part(piece: string, ending: Ending, events: ChatEvent[]): void {
    const { thought, text, calls, retracts } = this.#text.part(piece, ending);
    if (retracts && this.#textChars > 0) {
      this.#textChars = 0;
      this.#half = '';
      events.push({ type: 'retract' });
    }
    if (thought !== '') events.push({ type: 'reasoning', delta: thought });
    if (text !== '') this.#addText(text, events);
    for (const call of calls) this.#calls.add({ index: undefined, callId: undefined, ...call });
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
    // Text from one read is delivered as one event, so that a slow listener catches up at the cost of a single event.
    if (last?.type === 'text') last.delta += delta;
    else events.push({ type: 'text', delta });
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
