import { asError } from '../../../shared/coded-error.ts';
import { readPayload } from '../../../shared/models/stream-payload.ts';
import { AnswerAssembler, type AssemblerOptions } from './answer-assembler.ts';
import type { ChatEvent } from '../chat-types.ts';
import { ChatError } from '../chat-error.ts';
import type { ChatLimits } from '../chat-limits.ts';
import { ChunkReader } from './chunk-reader.ts';
import { failureOf, parseObject, readChunk } from './completion-chunk.ts';
import { EventReader, type StreamedEvent } from '../../../shared/models/event-reader.ts';
import { LineReader } from '../../../shared/models/line-reader.ts';
import { parseJson } from '../../../shared/parse-json.ts';

/** Converts the bytes of a response into events. Implementations exist for streams and for complete responses. */
export interface AnswerDecoder {
  /**
   * @returns the events completed by these bytes. @throws ChatError; events decoded before a fault in the same bytes are
   * returned first, and the next call throws the error
   */
  push(bytes: Buffer): ChatEvent[];
  /** Returns the last events after the bytes have ended, for any reason. @throws ChatError */
  end(): ChatEvent[];
  /** Returns the text that was held back when the answer failed. */
  held(): ChatEvent[];
  /** Whether the end marker or the text limit was reached, so that no more bytes are needed. */
  readonly isDone: boolean;
  /** Whether the service has sent the finish reason. */
  readonly isFinished: boolean;
  readonly hasUnknownReason: boolean;
}

export type DecoderLimits = Pick<ChatLimits, 'maxLineChars'> & AssemblerOptions;

/**
 * Combines the four layers of a streamed answer: bytes → lines → events → chunks → chat events
 * (SECURITY.md whole-answers, strict-streams). Payloads without content are ignored, as is everything after the finish
 * reason except the usage.
 */
export class StreamDecoder implements AnswerDecoder {
  readonly #lines: LineReader;
  readonly #events: EventReader;
  readonly #chunks = new ChunkReader();
  readonly #answer: AnswerAssembler;
  #sawDone = false;
  #failure: Error | undefined;

  constructor(limits: DecoderLimits) {
    this.#lines = new LineReader(limits.maxLineChars, malformed);
    this.#events = new EventReader(limits.maxLineChars, malformed);
    this.#answer = new AnswerAssembler(limits);
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

  held(): ChatEvent[] {
    return this.#answer.held();
  }

  /** An unterminated last event counts if it is complete; a torn event is part of the truncation. */
  #decodeRest(decoded: ChatEvent[]): void {
    const lastLine = this.#lines.end();
    const waiting = lastLine === '' ? undefined : this.#events.push(lastLine);
    for (const event of [waiting, this.#events.flush()]) {
      if (event && readPayload(event.data) !== 'torn') this.#decode(event, decoded);
    }
  }

  #decode(event: StreamedEvent, decoded: ChatEvent[]): void {
    try {
      if (event.name === 'error') throw failureOf(parseObject(event.data) ?? event.data);
      const chunk = this.#chunks.read(event.data);
      if (chunk === 'done') this.#sawDone = true;
      else if (chunk) this.#answer.add(chunk, decoded);
    } catch (failure) {
      // The answer is already complete.
      if (!this.isFinished) throw failure;
    }
  }
}

/** Reads a JSON response: one object, or one per line. Some services send it even when a stream was requested. */
export class WholeDecoder implements AnswerDecoder {
  readonly isDone = false;
  readonly isFinished = false;
  readonly #pieces: Buffer[] = [];
  readonly #answer: AnswerAssembler;

  constructor(limits: DecoderLimits) {
    this.#answer = new AnswerAssembler(limits);
  }

  get hasUnknownReason(): boolean {
    return this.#answer.hasUnknownReason;
  }

  push(bytes: Buffer): ChatEvent[] {
    this.#pieces.push(bytes);
    return [];
  }

  /** Nothing of an incomplete response was returned. */
  held(): ChatEvent[] {
    return [];
  }

  end(): ChatEvent[] {
    const text = Buffer.concat(this.#pieces).toString('utf8').trim();
    const lines = parseJson(text) === undefined ? text.split('\n') : [text];
    const payloads = lines.map(readPayload);
    // Nothing has been shown, so a response that was cut may be asked for again.
    if (payloads[0] === 'torn') throw noCompletion();
    const chunks = payloads.flatMap((payload) => readChunk(payload) ?? []);
    if (!chunks.some(({ hasReply, text: said }) => hasReply || said !== '')) throw noCompletion();
    const decoded: ChatEvent[] = [];
    for (const chunk of chunks) this.#answer.add(chunk, decoded);
    // A single object is complete even without a finish reason.
    decoded.push(...this.#answer.end(lines.length === 1));
    return decoded;
  }
}

function malformed(message: string): ChatError {
  return new ChatError('chat_bad_stream', message);
}

function noCompletion(): ChatError {
  return new ChatError('chat_bad_stream', 'The chat service sent no completion', { isRetryable: true });
}

const FIRST_SIGN = /[^\s\ufeff]/;
/** Maximum bytes of whitespace before an answer. */
const MAX_BLANK_BYTES = 65_536;

/**
 * Selects the decoder by the first character of the response, because engines and their proxies send wrong content types.
 * JSON begins with a brace and an HTML page with an angle bracket; anything else is an event stream.
 */
export class SniffingDecoder implements AnswerDecoder {
  readonly #limits: DecoderLimits;
  #blanks: Buffer = Buffer.alloc(0);
  #chosen: AnswerDecoder | undefined;

  constructor(limits: DecoderLimits) {
    this.#limits = limits;
  }

  get isDone(): boolean {
    return this.#chosen?.isDone ?? false;
  }

  get isFinished(): boolean {
    return this.#chosen?.isFinished ?? false;
  }

  get hasUnknownReason(): boolean {
    return this.#chosen?.hasUnknownReason ?? false;
  }

  push(bytes: Buffer): ChatEvent[] {
    if (this.#chosen) return this.#chosen.push(bytes);
    this.#blanks = Buffer.concat([this.#blanks, bytes]);
    const sign = FIRST_SIGN.exec(this.#blanks.toString('latin1').replace('\u00ef\u00bb\u00bf', ''))?.[0];
    if (sign === undefined && this.#blanks.length < MAX_BLANK_BYTES) return [];
    if (sign === '<') throw new ChatError('chat_bad_stream', 'The chat service answered with an HTML page', PAGE);
    this.#chosen = sign === '{' ? new WholeDecoder(this.#limits) : new StreamDecoder(this.#limits);
    return this.#chosen.push(this.#blanks);
  }

  held(): ChatEvent[] {
    return this.#chosen?.held() ?? [];
  }

  end(): ChatEvent[] {
    this.#chosen ??= new StreamDecoder(this.#limits);
    return this.#chosen.end();
  }
}

/** A proxy's error page may not recur on the next request. */
const PAGE = { status: 200, isRetryable: true };
