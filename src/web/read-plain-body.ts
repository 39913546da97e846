import { pipeline, type Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { WebError } from './web-error.ts';

const DECODERS: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * Reads a body, decompressed, and never more than so many bytes of it, however small it was sent.
 * @throws WebError `too_large`; `unusable` when it is written in a way that was not asked for
 */
export async function readPlainBody(
  body: AsyncIterable<Buffer>,
  encoding: string | undefined,
  mostBytes: number,
): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return readBounded(body, mostBytes);
  const create = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (!create) throw new WebError('unusable', 'The page is compressed in an unknown way.');
  // What arrives is bounded as well: a compressed stream may go on for ever and stand for nothing.
  const decoded = pipeline(bounded(body, mostBytes), create(), () => undefined);
  return readBounded(decoded as AsyncIterable<Buffer>, mostBytes);
}

async function readBounded(source: AsyncIterable<Buffer>, mostBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of bounded(source, mostBytes)) pieces.push(piece);
  return Buffer.concat(pieces);
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
