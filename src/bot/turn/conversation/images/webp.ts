import { brokenImage } from './image-error.ts';
import type { ImageHeader } from './image-facts.ts';

const FIRST_CHUNK_AT = 12;
const CHUNK_HEAD_BYTES = 8;
const MAX_CHUNKS = 200;
const ANIMATED_BIT = 0x02;
const ALPHA_BIT = 0x10;

/** Decoder memory per pixel; the decoder always decodes a whole image. */
const LOSSY_BYTES = 3;
const ALPHA_LOSSY_BYTES = 5;
const LOSSLESS_BYTES = 8;
/** The canvas, the frame and the previous canvas. */
const ANIMATED_BYTES = 12;

interface Canvas {
  width: number;
  height: number;
  isAnimated: boolean;
  hasAlpha: boolean;
}

/** Reads a WebP's header. @throws ImageError `broken` */
export function readWebp(bytes: Buffer): ImageHeader {
  let canvas: Canvas | undefined;
  let at = FIRST_CHUNK_AT;
  for (let count = 0; count < MAX_CHUNKS && at + CHUNK_HEAD_BYTES <= bytes.length; count += 1) {
    const name = bytes.toString('latin1', at, at + 4);
    const lengthBytes = bytes.readUInt32LE(at + 4);
    const body = bytes.subarray(at + CHUNK_HEAD_BYTES, at + CHUNK_HEAD_BYTES + lengthBytes);
    if (name === 'VP8X') canvas = readCanvas(body);
    if (canvas?.isAnimated === true) return headerOf(canvas, ANIMATED_BYTES, bytes);
    if (name === 'VP8 ') {
      const pixelBytes = canvas?.hasAlpha === true ? ALPHA_LOSSY_BYTES : LOSSY_BYTES;
      return headerOf(larger(canvas, readLossy(body)), pixelBytes, bytes);
    }
    if (name === 'VP8L') return headerOf(larger(canvas, readLossless(body)), LOSSLESS_BYTES, bytes);
    at += CHUNK_HEAD_BYTES + lengthBytes + (lengthBytes % 2);
  }
  return fail();
}

interface Size {
  width: number;
  height: number;
}

function headerOf({ width, height }: Size, pixelBytes: number, lean: Buffer): ImageHeader {
  return { width, height, unpackedBytes: width * height * pixelBytes, lean };
}

/** A canvas and its image must agree. The decoder rejects a mismatch; until then the larger size counts. */
function larger(canvas: Size | undefined, picture: Size): Size {
  return {
    width: Math.max(canvas?.width ?? 0, picture.width),
    height: Math.max(canvas?.height ?? 0, picture.height),
  };
}

function readCanvas(body: Buffer): Canvas {
  if (body.length < 10) return fail();
  const flags = body.readUInt8(0);
  return {
    width: body.readUIntLE(4, 3) + 1,
    height: body.readUIntLE(7, 3) + 1,
    isAnimated: (flags & ANIMATED_BIT) !== 0,
    hasAlpha: (flags & ALPHA_BIT) !== 0,
  };
}

function readLossy(body: Buffer): Size {
  if (body.length < 10 || body.toString('hex', 3, 6) !== '9d012a') return fail();
  return { width: body.readUInt16LE(6) & 0x3fff, height: body.readUInt16LE(8) & 0x3fff };
}

function readLossless(body: Buffer): Size {
  if (body.length < 5 || body.readUInt8(0) !== 0x2f) return fail();
  const bits = body.readUInt32LE(1);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

function fail(): never {
  throw brokenImage('A WebP has no readable header');
}
