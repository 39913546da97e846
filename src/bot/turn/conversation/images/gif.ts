import { brokenImage } from './image-error.ts';
import type { ImageHeader } from './image-facts.ts';

const HEADER_BYTES = 13;
const IMAGE_BLOCK = 0x2c;
const EXTENSION_BLOCK = 0x21;
const TRAILER = Buffer.from([0x3b]);
const PIXEL_BYTES = 4;
/** Encoders fill each sub-block with 255 bytes, so that 10 MB contain about 40,000 of them. */
const MAX_SUB_BLOCKS = 200_000;

/** Reads a GIF's header and keeps only its first frame: an animation may have thousands. @throws ImageError `broken` */
export function readGif(bytes: Buffer): ImageHeader {
  if (bytes.length < HEADER_BYTES) return fail();
  const canvas = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  let at = HEADER_BYTES + colourTableBytes(bytes.readUInt8(10));
  while (bytes[at] === EXTENSION_BLOCK) at = endOfSubBlocks(bytes, at + 2);
  if (bytes[at] !== IMAGE_BLOCK || at + 11 > bytes.length) return fail();
  // A frame may extend beyond the canvas, which then grows.
  const width = Math.max(canvas.width, bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5));
  const height = Math.max(canvas.height, bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7));
  const dataAt = at + 10 + colourTableBytes(bytes.readUInt8(at + 9)) + 1;
  const end = endOfSubBlocks(bytes, dataAt);
  return {
    width,
    height,
    unpackedBytes: width * height * PIXEL_BYTES,
    lean: Buffer.concat([bytes.subarray(0, end), TRAILER]),
  };
}

function colourTableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 0x07) + 1);
}

/** Returns the end of a chain of sub-blocks; a truncated chain ends with the bytes. */
function endOfSubBlocks(bytes: Buffer, start: number): number {
  let at = start;
  for (let count = 0; count < MAX_SUB_BLOCKS; count += 1) {
    const lengthBytes = bytes[at];
    if (lengthBytes === undefined) return bytes.length;
    at += 1 + lengthBytes;
    if (lengthBytes === 0) return at;
  }
  return fail();
}

function fail(): never {
  throw brokenImage('A GIF has no readable header');
}
