import { pipeline, type Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { KIB_BYTES } from '../clock.ts';
import { WebError } from './web-error.ts';

const DECODERS: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

const PIECE_BYTES = 64 * KIB_BYTES;

/**
 * Reads and decompresses a body up to a maximum number of bytes, however small its compressed form is. In chunks: joining a
 * large body would block the event loop.
 * @throws WebError `too_large`; `unusable` for an encoding that was not requested
 */
export async function readPlainPieces(
  body: AsyncIterable<Buffer>,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Buffer[]> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return readBounded(body, maxBytes);
  const create = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (!create) throw new WebError('unusable', 'The page uses an unknown compression.');
  // The compressed input is limited too: a compressed stream may be endless and decompress to nothing.
  const decoded = pipeline(bounded(body, maxBytes), create(), () => undefined);
  return readBounded(decoded as AsyncIterable<Buffer>, maxBytes);
}

/** Copies into chunks of fixed size: a body that arrives byte by byte would otherwise take a hundred times its length. */
async function readBounded(source: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let last = Buffer.alloc(0);
  let filled = 0;
  for await (const piece of bounded(source, maxBytes))
    for (let at = 0; at < piece.length;) {
      if (filled === last.length) {
        last = Buffer.allocUnsafeSlow(PIECE_BYTES);
        filled = 0;
        pieces.push(last);
      }
      const copied = piece.copy(last, filled, at);
      filled += copied;
      at += copied;
    }
  if (pieces.length > 0) pieces[pieces.length - 1] = last.subarray(0, filled);
  return pieces;
}

/** Leaving the loop early closes the source. */
async function* bounded(source: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let sizeBytes = 0;
  for await (const piece of source) {
    sizeBytes += piece.length;
    if (sizeBytes > maxBytes) throw new WebError('too_large', 'The page is too large.');
    yield piece;
  }
}
