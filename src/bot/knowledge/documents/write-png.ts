import { crc32, deflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const COLOURS = 2;
const CHANNELS = 3;

/** Encodes RGB rows as a PNG. @param rows concatenated rows, each with a leading zero filter byte */
export function writePng(width: number, height: number, rows: Buffer): Buffer {
  if (rows.length !== height * (1 + width * CHANNELS)) throw new RangeError('The rows do not match the image size');
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, COLOURS], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 2 })),
    chunk('IEND'),
  ]);
}

function chunk(name: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32BE(data.length, 0);
  sizes.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([sizes.subarray(0, 4), named, sizes.subarray(4)]);
}
