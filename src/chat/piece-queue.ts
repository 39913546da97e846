import type { Readable } from 'node:stream';
import { KIB_BYTES } from '../base/clock.ts';
import { asError } from '../base/coded-error.ts';

/** Bytes that may wait here before the service is made to wait. */
const MAX_WAITING_BYTES = 256 * KIB_BYTES;

/**
 * The bytes of an HTTP answer, taken from the connection as they come. What arrived before a break is still handed out,
 * whereas a stream's own iterator drops it: and with it a finish reason that came just before the connection went.
 */
export class PieceQueue {
  readonly #body: Readable;
  #pieces: Buffer[] = [];
  #waitingBytes = 0;
  #end: Error | 'whole' | undefined;
  #isDiscarding = false;
  #wake: (() => void) | undefined;

  constructor(body: Readable) {
    this.#body = body;
    body.on('data', (piece: Buffer) => this.#add(piece));
    body.once('end', () => this.#finish('whole'));
    body.on('error', (cause: unknown) => this.#finish(asError(cause)));
    body.once('close', () => this.#finish(new Error('The connection was closed')));
  }

  /** All bytes that came since the last call, at least one; undefined at the end. @throws what broke the connection */
  async next(): Promise<Buffer | undefined> {
    while (this.#pieces.length === 0 && this.#end === undefined) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    const pieces = this.#pieces;
    if (pieces.length === 0) {
      if (this.#end instanceof Error) throw this.#end;
      return undefined;
    }
    this.#pieces = [];
    this.#waitingBytes = 0;
    if (this.#body.isPaused()) this.#body.resume();
    return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
  }

  /** Drops what still comes, so that the connection can be used again, until it ends in whatever way. */
  async discard(): Promise<void> {
    this.#isDiscarding = true;
    this.#pieces = [];
    this.#body.resume();
    while (this.#end === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  #add(piece: Buffer): void {
    if (this.#isDiscarding || piece.length === 0) return;
    this.#pieces.push(piece);
    this.#waitingBytes += piece.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#body.pause();
    this.#wake?.();
  }

  #finish(end: Error | 'whole'): void {
    this.#end ??= end;
    this.#wake?.();
  }
}
