import { asError } from '../../base/coded-error.ts';
import { AnswerAssembler } from './answer-assembler.ts';
import type { ChatEvent } from '../chat-types.ts';
import { ChatError } from '../chat-error.ts';
import type { ChatLimits } from '../chat-limits.ts';
import { ChunkReader } from './chunk-reader.ts';
import { failureOfErrorObject, parseObject, readChunk } from './completion-chunk.ts';
import { DONE, EventReader, type StreamedEvent } from './event-reader.ts';
import { LineReader } from './line-reader.ts';

/** What turns an answer's bytes into events; one for streams, one for whole replies. */
export interface AnswerDecoder {
  /**
   * @returns the events that these bytes completed. @throws ChatError; events decoded before the fault in the same
   * bytes are returned first and the error comes with the next call
   */
  push(bytes: Buffer): ChatEvent[];
  /** The last events, once the bytes have ended for whatever reason. @throws ChatError */
  end(): ChatEvent[];
  /** Whether the end mark (or our cap on the text) was reached: no more bytes are needed. */
  readonly isDone: boolean;
  /** Whether the service has said why the answer ended. */
  readonly isFinished: boolean;
  readonly hasUnknownReason: boolean;
}

export type DecoderLimits = Pick<ChatLimits, 'maxLineChars' | 'maxAnswerChars'>;

/** The four layers of a streamed answer in one: bytes → lines → events → chunks → chat events (SECURITY.md whole-answers, strict-streams). */
export class StreamDecoder implements AnswerDecoder {
  readonly #lines: LineReader;
  readonly #events: EventReader;
  readonly #chunks = new ChunkReader();
  readonly #answer: AnswerAssembler;
  #sawDone = false;
  #failure: Error | undefined;

  constructor(limits: DecoderLimits) {
    this.#lines = new LineReader(limits.maxLineChars);
    this.#events = new EventReader(limits.maxLineChars);
    this.#answer = new AnswerAssembler(limits.maxAnswerChars);
  }

  get isDone(): boolean {
    return this.#sawDone || this.#answer.isFull;
  }

  get isFinished(): boolean {
    return this.#answer.isFinished;
  }

  get hasUnknownReason(): boolean {
    return this.#answer.hasUnknownReason;
  }

  push(bytes: Buffer): ChatEvent[] {
    if (this.#failure !== undefined) throw this.#failure;
    const decoded: ChatEvent[] = [];
    try {
      for (const line of this.#lines.push(bytes)) {
        const event = this.#events.push(line);
        if (event && !this.isDone) this.#decode(event, decoded);
      }
    } catch (failure) {
      if (decoded.length === 0) throw failure;
      this.#failure = asError(failure);
    }
    return decoded;
  }

  end(): ChatEvent[] {
    if (this.#failure !== undefined && !this.isDone) throw this.#failure;
    const decoded: ChatEvent[] = [];
    if (!this.isDone) this.#decodeRest(decoded);
    decoded.push(...this.#answer.end(this.#sawDone));
    return decoded;
  }

  /** A last event that was not ended counts if it is whole; a torn one is part of the truncation. */
  #decodeRest(decoded: ChatEvent[]): void {
    const lastLine = this.#lines.end();
    const waiting = lastLine === '' ? undefined : this.#events.push(lastLine);
    for (const event of [waiting, this.#events.flush()]) {
      if (event && (event.data === DONE || parseObject(event.data))) this.#decode(event, decoded);
    }
  }

  #decode(event: StreamedEvent, decoded: ChatEvent[]): void {
    if (event.data === DONE) this.#sawDone = true;
    else if (event.name === 'error')
      throw failureOfErrorObject(parseObject(event.data)?.['error'] ?? parseObject(event.data));
    else if (event.data !== '') this.#answer.add(this.#chunks.read(event.data), decoded);
  }
}

/** Reads an answer that comes as one JSON object: asked for, or sent although a stream was asked for. */
export class WholeDecoder implements AnswerDecoder {
  readonly isDone = false;
  readonly isFinished = false;
  readonly #pieces: Buffer[] = [];
  readonly #answer: AnswerAssembler;

  constructor(limits: DecoderLimits) {
    this.#answer = new AnswerAssembler(limits.maxAnswerChars);
  }

  get hasUnknownReason(): boolean {
    return this.#answer.hasUnknownReason;
  }

  push(bytes: Buffer): ChatEvent[] {
    this.#pieces.push(bytes);
    return [];
  }

  end(): ChatEvent[] {
    const chunk = readChunk(Buffer.concat(this.#pieces).toString('utf8'));
    if (!chunk.hasReply) throw new ChatError('chat_bad_stream', 'The chat service sent JSON that is no completion');
    const decoded: ChatEvent[] = [];
    this.#answer.add(chunk, decoded);
    // A whole object is complete even when it does not say why it ended.
    decoded.push(...this.#answer.end(true));
    return decoded;
  }
}
