import { crc32, deflateSync } from 'node:zlib';

/** Image headers without pixels: the part that a checker reads before it unpacks anything. */

export interface PngKind {
  depthBits?: number;
  colourType?: number;
  interlaced?: boolean;
}

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

export function pngChunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

function pngHeader(width: number, height: number, kind: PngKind): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([kind.depthBits ?? 8, kind.colourType ?? 2, 0, 0, kind.interlaced === true ? 1 : 0], 8);
  return pngChunk('IHDR', data);
}

/** The header of a PNG. */
export function png(width: number, height: number, kind: PngKind = {}): Buffer {
  return Buffer.concat([PNG_SIGNATURE, pngHeader(width, height, kind)]);
}

/** A complete PNG of grey pixels, with extra chunks before them. */
export function wholePng(width: number, height: number, extra: readonly Buffer[] = []): Buffer {
  const rows = deflateSync(Buffer.alloc((width + 1) * height));
  return Buffer.concat([
    PNG_SIGNATURE,
    pngHeader(width, height, { colourType: 0 }),
    ...extra,
    pngChunk('IDAT', rows),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A GIF frame of one pixel with a short delay. */
const GIF_FRAME = Buffer.from('21f9040000000000 2c00000000010001000002024401 00'.replaceAll(' ', ''), 'hex');

export function gif(width: number, height: number, frames = 1): Buffer {
  const head = Buffer.from('GIF89a\0\0\0\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1');
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  return Buffer.concat([head, ...Array.from({ length: frames }, () => GIF_FRAME), Buffer.from(';')]);
}

export interface JpegKind {
  progressive?: boolean;
  /** Sampling factors of each component. Defaults to `22 11 11`, the usual halved colours. */
  sampling?: string;
  /** Number of components in the first scan. Defaults to all. */
  scanned?: number;
}

export function jpeg(width: number, height: number, kind: JpegKind = {}): Buffer {
  const factors = (kind.sampling ?? '22 11 11').split(' ');
  const start = Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex');
  const size = Buffer.alloc(4);
  size.writeUInt16BE(height, 0);
  size.writeUInt16BE(width, 2);
  const frame = Buffer.concat([
    Buffer.from([0xff, kind.progressive === true ? 0xc2 : 0xc0, 0, 8 + 3 * factors.length, 8]),
    size,
    Buffer.from([factors.length, ...factors.flatMap((pair, index) => [index + 1, Number.parseInt(pair, 16), 0])]),
  ]);
  const scanned = kind.scanned ?? factors.length;
  const ids = Array.from({ length: scanned }, (_, index) => [index + 1, 0]).flat();
  const scan = Buffer.from([0xff, 0xda, 0, 6 + 2 * scanned, scanned, ...ids, 0, 63, 0]);
  return Buffer.concat([start, frame, scan, Buffer.alloc(64)]);
}

function webpFile(...chunks: Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from('WEBP'), ...chunks]);
  const head = Buffer.from('RIFF\0\0\0\0', 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}

function webpChunk(name: string, data: Buffer): Buffer {
  const head = Buffer.from(`${name}\0\0\0\0`, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

function lossless(width: number, height: number): Buffer {
  const data = Buffer.alloc(8);
  data.writeUInt8(0x2f, 0);
  data.writeUInt32LE(((height - 1) * 2 ** 14 + (width - 1)) >>> 0, 1);
  return webpChunk('VP8L', data);
}

function lossy(width: number, height: number): Buffer {
  const data = Buffer.from('1000009d012a00000000', 'hex');
  data.writeUInt16LE(width, 6);
  data.writeUInt16LE(height, 8);
  return webpChunk('VP8 ', data);
}

export function webp(width: number, height: number, kind: 'lossy' | 'lossless' = 'lossy'): Buffer {
  return webpFile(kind === 'lossy' ? lossy(width, height) : lossless(width, height));
}

/** A WebP with its own canvas around a picture of one pixel. */
export function webpCanvas(width: number, height: number, isAnimated = false): Buffer {
  const canvas = Buffer.alloc(10);
  canvas.writeUInt8(isAnimated ? 0x02 : 0, 0);
  canvas.writeUIntLE(width - 1, 4, 3);
  canvas.writeUIntLE(height - 1, 7, 3);
  return webpFile(webpChunk('VP8X', canvas), lossy(1, 1));
}
