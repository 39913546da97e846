import type { Readable } from 'node:stream';
import { asError } from '../base/coded-error.ts';

export interface PieceListener {
  /** All bytes that came at once, at least one. */
  onBytes(bytes: Buffer): void;
  /** Comes once and last; `cause` tells what broke the connection. */
  onEnd(cause?: Error): void;
}

/**
 * Hands on the bytes of an HTTP answer as they come from the connection, what one read of it brought in one piece: a reader
 * that is behind catches up at the price of one. What arrived before a break is handed on before it, whereas a stream's own
 * iterator drops it: and with it a finish reason that came just before the connection went.
 */
export function readPieces(body: Readable, { onBytes, onEnd }: PieceListener): void {
  let pieces: Buffer[] = [];
  let isOver = false;
  const handOn = (): void => {
    const [first] = pieces;
    if (first === undefined) return;
    const bytes = pieces.length === 1 ? first : Buffer.concat(pieces);
    pieces = [];
    onBytes(bytes);
  };
  const end = (cause?: Error): void => {
    if (isOver) return;
    isOver = true;
    handOn();
    onEnd(cause);
  };
  body.on('data', (piece: Buffer) => {
    if (piece.length > 0 && pieces.push(piece) === 1) process.nextTick(handOn);
  });
  body.once('end', () => end());
  body.on('error', (cause: unknown) => end(asError(cause)));
  body.once('close', () => {
    if (!isOver) end(new Error('The connection was closed'));
  });
}
