import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { noisePicture } from '../../../../support/noise-picture.ts';
import { gif, jpeg, png, pngChunk, webp, webpCanvas, wholePng } from './make-images.ts';

export interface Bomb {
  name: string;
  bytes: Buffer;
  /** The expected outcome: a fault code, or the media type of the prepared image. */
  expected: string;
}

const MIB_BYTES = 1024 * 1024;

const flat = (side: number) =>
  sharp({ create: { width: side, height: side, channels: 3, background: '#2060a0' }, limitInputPixels: false });

/** A small chunk that unpacks to 200 MB. */
function packedText(name: 'zTXt' | 'iCCP', packed: Buffer): Buffer {
  return pngChunk(name, Buffer.concat([Buffer.from('note\0\0', 'latin1'), packed]));
}

/** Files that need far more memory than their size (SECURITY.md pinned-media), and the heaviest that are still accepted. */
export async function makeBombs(): Promise<Bomb[]> {
  const photograph = await noisePicture(900, 600, { sigma: 40 }).jpeg({ quality: 90 }).toBuffer();
  const progressive = await flat(3_500).jpeg({ progressive: true }).toBuffer();
  const lastScanAt = progressive.lastIndexOf(Buffer.from('ffda', 'hex'));
  const scan = progressive.subarray(lastScanAt, -2);
  const packed = deflateSync(Buffer.alloc(200 * MIB_BYTES), { level: 1 });
  const wide = wholePng(5_000, 5_000);
  const many = (bytes: Buffer, count: number) => Buffer.concat(Array.from({ length: count }, () => bytes));
  return [
    { name: 'a header of ten thousand million pixels', bytes: png(100_000, 100_000), expected: 'too_many_pixels' },
    { name: 'a whole PNG of 36 million pixels', bytes: wholePng(6_000, 6_000), expected: 'too_many_pixels' },
    { name: 'a whole PNG of 25 million pixels', bytes: wide, expected: 'image/png' },
    {
      name: 'an interlaced PNG of 9 million pixels',
      bytes: await flat(3_000).png({ progressive: true }).toBuffer(),
      expected: 'image/png',
    },
    {
      name: 'an interlaced PNG of 25 million pixels',
      bytes: await flat(5_000).png({ progressive: true }).toBuffer(),
      expected: 'too_heavy',
    },
    {
      name: 'a PNG with 2 GB of packed text',
      bytes: wholePng(9, 9, Array<Buffer>(10).fill(packedText('zTXt', packed))),
      expected: 'image/png',
    },
    {
      name: 'a PNG with a packed colour profile',
      bytes: wholePng(9, 9, [packedText('iCCP', packed)]),
      expected: 'image/png',
    },
    { name: 'a PNG whose pixels are cut off', bytes: wide.subarray(0, -40), expected: 'broken' },
    {
      name: 'a PNG with more pixels than its header says',
      bytes: Buffer.concat([png(9, 9), pngChunk('IDAT', packed), pngChunk('IEND', Buffer.alloc(0))]),
      expected: 'image/png',
    },
    { name: 'a JPEG of 25 million pixels', bytes: await flat(5_000).jpeg().toBuffer(), expected: 'image/jpeg' },
    { name: 'a progressive JPEG of 12 million pixels', bytes: progressive, expected: 'image/jpeg' },
    {
      name: 'a progressive JPEG of 25 million pixels',
      bytes: await flat(5_000).jpeg({ progressive: true }).toBuffer(),
      expected: 'too_heavy',
    },
    {
      name: 'a JPEG of 10,000 scans',
      bytes: Buffer.concat([progressive.subarray(0, -2), many(scan, 10_000), progressive.subarray(-2)]).subarray(
        0,
        9 * MIB_BYTES,
      ),
      expected: 'too_heavy',
    },
    { name: 'a JPEG that is cut off', bytes: photograph.subarray(0, photograph.length / 2), expected: 'broken' },
    { name: 'a JPEG header with nothing behind', bytes: jpeg(5_000, 5_000), expected: 'broken' },
    {
      name: 'a JPEG header with noise behind',
      bytes: Buffer.concat([jpeg(5_000, 5_000), Buffer.alloc(9 * MIB_BYTES, 'noise')]),
      expected: 'broken',
    },
    { name: 'a GIF of 300,000 frames', bytes: gif(9, 9, 300_000), expected: 'image/png' },
    { name: 'a GIF canvas of 9 million pixels', bytes: gif(3_000, 3_000, 1_000), expected: 'image/png' },
    { name: 'a GIF canvas of 4,000 million pixels', bytes: gif(65_535, 65_535), expected: 'too_many_pixels' },
    {
      name: 'a lossless WebP of 5 million pixels',
      bytes: await flat(2_150).webp({ lossless: true, effort: 0 }).toBuffer(),
      expected: 'image/jpeg',
    },
    { name: 'a lossless WebP of 25 million pixels', bytes: webp(5_000, 5_000, 'lossless'), expected: 'too_heavy' },
    {
      name: 'a WebP of 12 million pixels',
      bytes: await flat(3_500).webp({ effort: 0 }).toBuffer(),
      expected: 'image/jpeg',
    },
    { name: 'a WebP canvas around one pixel', bytes: webpCanvas(1_700, 1_700, true), expected: 'broken' },
    {
      name: 'a vector image that names a file',
      bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>'),
      expected: 'unknown_type',
    },
    { name: 'a document', bytes: Buffer.from('%PDF-1.7 ...'), expected: 'unknown_type' },
    { name: 'a picture of another kind', bytes: await flat(64).tiff().toBuffer(), expected: 'unknown_type' },
    {
      name: 'a page that begins like a GIF',
      bytes: Buffer.from('GIF89a/*<script>alert(1)</script>*/=1;'),
      expected: 'broken',
    },
    {
      name: 'a photograph with an archive behind it',
      bytes: Buffer.concat([photograph, Buffer.from('PK\x03\x04<script>alert(1)</script>')]),
      expected: 'image/jpeg',
    },
  ];
}
