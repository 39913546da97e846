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
 * Reads a body, decompressed, and never more than so many bytes of it, however small it was sent.
 * @throws WebError `too_large`; `unusable` when it is written in a way that was not asked for
 */
export async function readPlainBody(
  body: AsyncIterable<Buffer>,
  encoding: string | undefined,
  mostBytes: number,
): Promise<Buffer> {
  return Buffer.concat(await readPlainPieces(body, encoding, mostBytes));
}

/** The same in pieces, for what is so large that to join them would hold up what else there is to do. */
export async function readPlainPieces(
  body: AsyncIterable<Buffer>,
  encoding: string | undefined,
  mostBytes: number,
): Promise<Buffer[]> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return readBounded(body, mostBytes);
  const create = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (!create) throw new WebError('unusable', 'The page is compressed in an unknown way.');
  // What arrives is bounded as well: a compressed stream may go on for ever and stand for nothing.
  const decoded = pipeline(bounded(body, mostBytes), create(), () => undefined);
  return readBounded(decoded as AsyncIterable<Buffer>, mostBytes);
}

/** Copied into pieces of our size: a body that comes byte by byte would else take a hundred times its length. */
async function readBounded(source: AsyncIterable<Buffer>, mostBytes: number): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let last = Buffer.alloc(0);
  let filled = 0;
  for await (const piece of bounded(source, mostBytes))
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

/** Leaving the loop early cuts what it reads from. */
async function* bounded(source: AsyncIterable<Buffer>, mostBytes: number): AsyncGenerator<Buffer> {
  let sizeBytes = 0;
  for await (const piece of source) {
    sizeBytes += piece.length;
    if (sizeBytes > mostBytes) throw new WebError('too_large', 'The page is too large to be read.');
    yield piece;
  }
}
