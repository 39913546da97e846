import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { checkImage, ImageError, MAX_IMAGE_BYTES, toDataUrl } from '../../src/conversation/image-intake.ts';

function png(width: number, height: number): Buffer {
  const bytes = Buffer.from('89504e470d0a1a0a0000000d49484452000000000000000008020000000000000000000000', 'hex');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

function gif(width: number, height: number): Buffer {
  const bytes = Buffer.from('GIF89a\0\0\0\0\0\0\0;', 'latin1');
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return bytes;
}

function jpeg(width: number, height: number): Buffer {
  const head = Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex');
  const frame = Buffer.from('ffc0001108000000000301220002110103110100', 'hex');
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([head, frame, Buffer.alloc(64)]);
}

function webp(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(32);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(24, 4);
  bytes.write('WEBPVP8X', 8, 'latin1');
  bytes.writeUInt32LE(10, 16);
  bytes.writeUIntLE(width - 1, 24, 3);
  bytes.writeUIntLE(height - 1, 27, 3);
  return bytes;
}

const codeOf = (bytes: Buffer): string => {
  try {
    return checkImage(bytes).mediaType;
  } catch (error) {
    expect(error).toBeInstanceOf(ImageError);
    return (error as ImageError).code;
  }
};

describe('an image is known by its bytes (security.md 6.6)', () => {
  test.each([
    ['image/png', png(640, 480)],
    ['image/gif', gif(640, 480)],
    ['image/jpeg', jpeg(640, 480)],
    ['image/webp', webp(640, 480)],
  ])('%s', (mediaType, bytes) => {
    expect(checkImage(bytes)).toEqual({ mediaType, width: 640, height: 480 });
  });

  test.each([
    ['a vector image', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'), 'unknown_type'],
    ['a page', Buffer.from('<!doctype html>'), 'unknown_type'],
    ['nothing', Buffer.alloc(0), 'unknown_type'],
    ['only a signature', png(1, 1).subarray(0, 12), 'broken'],
    ['an image without a size', png(0, 10), 'broken'],
    ['too many pixels', png(5_001, 5_000), 'too_many_pixels'],
    ['pixels that overflow 32 bits', png(65_536, 65_537), 'too_many_pixels'],
    ['as many pixels as may be', png(5_000, 5_000), 'image/png'],
    ['too many bytes', Buffer.concat([png(1, 1), Buffer.alloc(MAX_IMAGE_BYTES)]), 'too_large'],
  ])('%s', (_name, bytes, expected) => {
    expect(codeOf(bytes)).toBe(expected);
  });

  test('whatever follows a signature, an image or an ImageError comes out, soon', () => {
    const heads = [
      png(1, 1).subarray(0, 8),
      jpeg(1, 1).subarray(0, 3),
      gif(1, 1).subarray(0, 6),
      webp(1, 1).subarray(0, 16),
      webp(1, 1).subarray(0, 12),
    ];
    fc.assert(
      fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 400 }), (head, rest) => {
        codeOf(Buffer.concat([head, rest]));
      }),
      { numRuns: 500 },
    );
  });
});

test('a data URL holds the image whole', () => {
  expect(toDataUrl(Buffer.from([1, 2, 3]), 'image/png')).toBe('data:image/png;base64,AQID');
});
