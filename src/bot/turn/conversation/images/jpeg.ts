import { brokenImage, ImageError } from './image-error.ts';
import type { ImageHeader } from './image-facts.ts';

const START_OF_SCAN = 0xda;
const SCAN_MARK = Buffer.from([0xff, START_OF_SCAN]);
/** Frame headers are C0 to CF, except three that mark tables. */
const NO_FRAMES = new Set([0xc4, 0xc8, 0xcc]);
const PROGRESSIVE_BIT = 0x02;
const COEFFICIENT_BYTES = 2;
/** Each scan processes the whole image again; encoders write about ten. */
const MAX_SCANS = 32;
const MAX_SEGMENTS = 1_000;

interface Frame {
  width: number;
  height: number;
  components: number;
  isProgressive: boolean;
  /** Coefficients stored per pixel if the whole image must be held before it is decoded. */
  coefficientsPerPixel: number;
}

/**
 * Reads a JPEG's header. A JPEG with progressive scans or separate scans per colour must be held as a whole; others are
 * decoded row by row. @throws ImageError `broken`, `too_heavy`
 */
export function readJpeg(bytes: Buffer): ImageHeader {
  let frame: Frame | undefined;
  let at = 2;
  for (let count = 0; count < MAX_SEGMENTS; count += 1) {
    while (bytes[at] === 0xff && bytes[at + 1] === 0xff) at += 1;
    if (at + 4 > bytes.length || bytes[at] !== 0xff) break;
    const marker = bytes.readUInt8(at + 1);
    const lengthBytes = bytes.readUInt16BE(at + 2);
    const body = bytes.subarray(at + 4, at + 2 + lengthBytes);
    if (lengthBytes < 2) break;
    if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.has(marker)) frame ??= readFrame(marker, body);
    if (marker === START_OF_SCAN) return frame ? headerOf(bytes, frame, body[0] ?? 0) : fail();
    at += 2 + lengthBytes;
  }
  return fail();
}

function headerOf(lean: Buffer, frame: Frame, componentsInScan: number): ImageHeader {
  const { width, height, components, isProgressive, coefficientsPerPixel } = frame;
  if (countScans(lean) > MAX_SCANS) throw new ImageError('too_heavy', 'A JPEG has too many scans');
  const isHeldWhole = isProgressive || componentsInScan < components;
  const unpackedBytes = isHeldWhole ? Math.ceil(width * height * coefficientsPerPixel) * COEFFICIENT_BYTES : 0;
  return { width, height, unpackedBytes, lean };
}

function readFrame(marker: number, body: Buffer): Frame {
  const components = body[5] ?? 0;
  if (body.length < 6 + 3 * components || components === 0) return fail();
  const samples = Array.from({ length: components }, (_, index) => {
    const factors = body.readUInt8(7 + 3 * index);
    return { across: factors >> 4, down: factors & 0x0f };
  });
  const finest = Math.max(...samples.map(({ across }) => across)) * Math.max(...samples.map(({ down }) => down));
  const kept = samples.reduce((sum, { across, down }) => sum + across * down, 0);
  if (finest === 0) return fail();
  return {
    height: body.readUInt16BE(1),
    width: body.readUInt16BE(3),
    components,
    isProgressive: (marker & PROGRESSIVE_BIT) !== 0,
    coefficientsPerPixel: kept / finest,
  };
}

/** The marker cannot occur inside a scan; a few in an embedded thumbnail do no harm. */
function countScans(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(SCAN_MARK); at >= 0 && count <= MAX_SCANS; at = bytes.indexOf(SCAN_MARK, at + 2))
    count += 1;
  return count;
}

function fail(): never {
  throw brokenImage('A JPEG has no readable header');
}
