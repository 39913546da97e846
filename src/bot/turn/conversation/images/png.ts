import { brokenImage } from './image-error.ts';
import type { ImageHeader } from './image-facts.ts';

const SIGNATURE_BYTES = 8;
/** Length and name before the data of a chunk, and checksum after it. */
const CHUNK_FRAME_BYTES = 12;
/** Chunks that the image itself needs. The others contain texts and profiles, which may be compressed a thousandfold. */
const NEEDED = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);
/** Encoders write a few thousand at most: one per 8 KiB. */
const MAX_CHUNKS = 20_000;
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Reads a PNG's header. Only an interlaced PNG must be decoded as a whole. @throws ImageError `broken` */
export function readPng(bytes: Buffer): ImageHeader {
  const lean = leanPng(bytes);
  if (lean.length < 33 || lean.toString('latin1', 12, 16) !== 'IHDR')
    throw brokenImage('A PNG begins without a header');
  const width = lean.readUInt32BE(16);
  const height = lean.readUInt32BE(20);
  const depthBits = lean.readUInt8(24);
  const channels = CHANNELS[lean.readUInt8(25)];
  if (channels === undefined) throw brokenImage('A PNG has an unknown pixel format');
  const isInterlaced = lean.readUInt8(28) !== 0;
  // Palettes and transparent colours are decoded to four channels.
  const pixelBytes = Math.max(channels, 4) * (depthBits > 8 ? 2 : 1);
  return { width, height, unpackedBytes: isInterlaced ? width * height * pixelBytes : 0, lean };
}

/** The chunks of the image, up to its end. */
function leanPng(bytes: Buffer): Buffer {
  const kept: Buffer[] = [bytes.subarray(0, SIGNATURE_BYTES)];
  let at = SIGNATURE_BYTES;
  for (let count = 0; at + CHUNK_FRAME_BYTES <= bytes.length; count += 1) {
    if (count > MAX_CHUNKS) throw brokenImage('A PNG has too many chunks');
    const name = bytes.toString('latin1', at + 4, at + 8);
    const end = at + CHUNK_FRAME_BYTES + bytes.readUInt32BE(at);
    // A truncated chunk is left to the decoder, which decides whether to reject it.
    if (NEEDED.has(name)) kept.push(bytes.subarray(at, end));
    if (name === 'IEND') break;
    at = end;
  }
  return Buffer.concat(kept);
}
