import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import sharp from 'sharp';
import { ImageError } from '../../../../../src/bot/turn/conversation/images/image-error.ts';
import {
  checkImage,
  MAX_IMAGE_BYTES,
  MAX_IMAGE_PIXELS,
  MAX_SIDE_PIXELS,
  MAX_UNPACKED_BYTES,
} from '../../../../../src/bot/turn/conversation/images/image-header.ts';
import { flip, flips } from '../../../../support/flip-bytes.ts';
import { fuzzing, fuzzTestMs } from '../../../../support/fuzz-time.ts';
import { gif, jpeg, png, pngChunk, webp, webpCanvas, wholePng } from './make-images.ts';
import { measureProcessorTime } from '../../../../support/processor-time.ts';

const outcomeOf = (bytes: Buffer): string => {
  try {
    return checkImage(bytes).mediaType;
  } catch (error) {
    expect(error).toBeInstanceOf(ImageError);
    return (error as ImageError).code;
  }
};

const SQUARE = { width: 640, height: 480, channels: 3, background: '#c04030' } as const;
const real = () => sharp({ create: SQUARE });

describe('checkImage [pinned-media]', () => {
  test.each([
    ['image/png', png(640, 480)],
    ['image/gif', gif(640, 480)],
    ['image/jpeg', jpeg(640, 480)],
    ['image/webp', webp(640, 480)],
    ['image/webp', webp(640, 480, 'lossless')],
    ['image/webp', webpCanvas(640, 480)],
  ])('recognises %s by its bytes', (mediaType, bytes) => {
    expect(checkImage(bytes)).toMatchObject({ mediaType, width: 640, height: 480 });
  });

  test('recognises images as real encoders write them', async () => {
    const written = await Promise.all([
      real().png({ progressive: true }).toBuffer(),
      real().jpeg().withMetadata({ orientation: 6 }).toBuffer(),
      real().jpeg({ progressive: true, chromaSubsampling: '4:4:4' }).toBuffer(),
      real().gif().toBuffer(),
      real().webp().toBuffer(),
      real().webp({ lossless: true }).toBuffer(),
      real().ensureAlpha(0.5).webp().toBuffer(),
    ]);
    for (const bytes of written) expect(checkImage(bytes)).toMatchObject({ width: 640, height: 480 });
    expect(written.map((bytes) => checkImage(bytes).unpackedBytes / (640 * 480))).toEqual([4, 0, 6, 4, 3, 8, 5]);
  });

  test.each([
    ['a vector image', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'), 'unknown_type'],
    ['an HTML page', Buffer.from('<!doctype html>'), 'unknown_type'],
    ['an empty file', Buffer.alloc(0), 'unknown_type'],
    ['only a signature', png(1, 1).subarray(0, 12), 'broken'],
    ['an image without a size', png(0, 10), 'broken'],
    ['a photograph without pixels', jpeg(9, 9).subarray(0, 30), 'broken'],
    ['an animation without a picture', Buffer.from('GIF89a\x09\0\x09\0\0\0\0;', 'latin1'), 'broken'],
    ['a canvas without a picture', webpCanvas(9, 9).subarray(0, 30), 'broken'],
    ['too many pixels', png(5_001, 5_000), 'too_many_pixels'],
    ['pixels that overflow 32 bits', png(65_536, 65_537), 'too_many_pixels'],
    ['rows that are too long', png(MAX_SIDE_PIXELS + 1, 1), 'too_many_pixels'],
    ['a canvas that is larger than its picture', webpCanvas(16_000, 16_000), 'too_many_pixels'],
    ['a huge animation', gif(65_535, 65_535), 'too_many_pixels'],
    ['the maximum number of pixels', png(5_000, 5_000), 'image/png'],
    ['a large photograph', jpeg(5_776, 4_328), 'image/jpeg'],
    ['too many bytes', Buffer.concat([png(1, 1), Buffer.alloc(MAX_IMAGE_BYTES)]), 'too_large'],
  ])('accepts or refuses as expected: %s', (_name, bytes, expected) => {
    expect(outcomeOf(bytes)).toBe(expected);
  });
});

describe('the memory limit for images that are unpacked as a whole', () => {
  test.each([
    ['an interlaced drawing', png(5_000, 5_000, { interlaced: true }), 'too_heavy'],
    [
      'a drawing with 16-bit colours',
      png(2_600, 2_600, { interlaced: true, depthBits: 16, colourType: 6 }),
      'too_heavy',
    ],
    ['a progressive photograph', jpeg(5_000, 5_000, { progressive: true }), 'too_heavy'],
    ['an unsubsampled photograph', jpeg(4_000, 4_000, { progressive: true, sampling: '11 11 11' }), 'too_heavy'],
    ['a photograph with one colour per scan', jpeg(5_000, 5_000, { scanned: 1 }), 'too_heavy'],
    ['a lossless picture', webp(2_600, 2_600, 'lossless'), 'too_heavy'],
    ['an animated picture', webpCanvas(2_100, 2_100, true), 'too_heavy'],
    ['a palette animation', gif(3_600, 3_600), 'too_heavy'],
    ['a smaller interlaced drawing', png(3_000, 3_000, { interlaced: true }), 'image/png'],
    ['a smaller photograph', jpeg(3_500, 3_500, { progressive: true }), 'image/jpeg'],
  ])('accepts or refuses as expected: %s', (_name, bytes, expected) => {
    expect(outcomeOf(bytes)).toBe(expected);
  });

  test('refuses a progressive photograph with too many scans', () => {
    const once = jpeg(100, 100, { progressive: true });
    const scans = Buffer.concat(Array.from({ length: 40 }, () => Buffer.from('ffda0008010100003f00', 'hex')));
    expect(outcomeOf(Buffer.concat([once, scans]))).toBe('too_heavy');
    expect(outcomeOf(Buffer.concat([once, scans.subarray(0, 100)]))).toBe('image/jpeg');
  });
});

describe('the reduction to the first picture', () => {
  test('removes texts, profiles and trailing data from a PNG', () => {
    const texts = ['zTXt', 'iCCP', 'tEXt', 'acTL'].map((name) => pngChunk(name, Buffer.alloc(50_000)));
    const bytes = Buffer.concat([wholePng(9, 9, texts), Buffer.from('PK\x03\x04 and a page')]);
    expect(checkImage(bytes).lean).toEqual(wholePng(9, 9));
  });

  test('removes later frames from a GIF', () => {
    expect(checkImage(gif(9, 9, 5_000)).lean).toEqual(gif(9, 9));
  });

  test.each([
    [
      'a PNG of 50,000 chunks',
      Buffer.concat([png(9, 9), ...Array.from({ length: 50_000 }, () => pngChunk('tEXt', Buffer.alloc(0)))]),
    ],
    [
      'a GIF of 450,000 blocks',
      Buffer.concat([gif(9, 9).subarray(0, 19), Buffer.from('21fe', 'hex'), Buffer.alloc(900_000, '\x01\x41')]),
    ],
  ])('refuses %s', (_name, bytes) => {
    expect(outcomeOf(bytes)).toBe('broken');
  });
});

test(
  'checkImage returns an image within the limits or throws an ImageError in under 1 s, for any bytes',
  () => {
    const whole = [
      wholePng(3, 3),
      png(9, 9, { interlaced: true }),
      jpeg(9, 9),
      jpeg(9, 9, { progressive: true }),
      gif(9, 9, 3),
    ];
    const heads = [...whole, webp(9, 9), webp(9, 9, 'lossless'), webpCanvas(9, 9), webpCanvas(9, 9, true)];
    const changed = fc.tuple(fc.constantFrom(...heads), flips).map(([bytes, changes]) => changes.reduce(flip, bytes));
    const random = fc
      .tuple(fc.constantFrom(...heads), fc.nat(40), fc.uint8Array({ maxLength: 400 }))
      .map(([head, keptBytes, rest]) => Buffer.concat([head.subarray(0, keptBytes), rest]));
    fc.assert(
      fc.property(fc.oneof(changed, random), (bytes) => {
        const spentMs = measureProcessorTime();
        try {
          const { width, height, unpackedBytes, lean } = checkImage(bytes);
          expect(width * height).toBeLessThanOrEqual(MAX_IMAGE_PIXELS);
          expect(unpackedBytes).toBeLessThanOrEqual(MAX_UNPACKED_BYTES);
          expect(lean.length).toBeLessThanOrEqual(bytes.length + 1);
        } catch (error) {
          expect(error).toBeInstanceOf(ImageError);
        }
        expect(spentMs()).toBeLessThan(1_000);
      }),
      fuzzing(3_000),
    );
  },
  fuzzTestMs,
);
