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
import { fuzzMs, fuzzTestMs } from '../../../../support/fuzz-time.ts';
import { gif, jpeg, png, pngChunk, webp, webpCanvas, wholePng } from './make-images.ts';

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

describe('an image is known by its bytes [pinned-media]', () => {
  test.each([
    ['image/png', png(640, 480)],
    ['image/gif', gif(640, 480)],
    ['image/jpeg', jpeg(640, 480)],
    ['image/webp', webp(640, 480)],
    ['image/webp', webp(640, 480, 'lossless')],
    ['image/webp', webpCanvas(640, 480)],
  ])('%s', (mediaType, bytes) => {
    expect(checkImage(bytes)).toMatchObject({ mediaType, width: 640, height: 480 });
  });

  test('as writers really write it', async () => {
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
    ['a page', Buffer.from('<!doctype html>'), 'unknown_type'],
    ['nothing', Buffer.alloc(0), 'unknown_type'],
    ['only a signature', png(1, 1).subarray(0, 12), 'broken'],
    ['an image without a size', png(0, 10), 'broken'],
    ['a photograph without pixels', jpeg(9, 9).subarray(0, 30), 'broken'],
    ['an animation without a picture', Buffer.from('GIF89a\x09\0\x09\0\0\0\0;', 'latin1'), 'broken'],
    ['a canvas without a picture', webpCanvas(9, 9).subarray(0, 30), 'broken'],
    ['too many pixels', png(5_001, 5_000), 'too_many_pixels'],
    ['pixels that overflow 32 bits', png(65_536, 65_537), 'too_many_pixels'],
    ['a row that is too long', png(MAX_SIDE_PIXELS + 1, 1), 'too_many_pixels'],
    ['a canvas that is larger than its picture', webpCanvas(16_000, 16_000), 'too_many_pixels'],
    ['a huge animation', gif(65_535, 65_535), 'too_many_pixels'],
    ['as many pixels as may be', png(5_000, 5_000), 'image/png'],
    ['a large photograph', jpeg(5_776, 4_328), 'image/jpeg'],
    ['too many bytes', Buffer.concat([png(1, 1), Buffer.alloc(MAX_IMAGE_BYTES)]), 'too_large'],
  ])('%s', (_name, bytes, expected) => {
    expect(outcomeOf(bytes)).toBe(expected);
  });
});

describe('what must be unpacked as a whole is judged by the memory that it takes', () => {
  test.each([
    ['an interlaced drawing', png(5_000, 5_000, { interlaced: true }), 'too_heavy'],
    [
      'one with two bytes for each colour',
      png(2_600, 2_600, { interlaced: true, depthBits: 16, colourType: 6 }),
      'too_heavy',
    ],
    ['a photograph that is sharpened by and by', jpeg(5_000, 5_000, { progressive: true }), 'too_heavy'],
    ['one in all its colours', jpeg(4_000, 4_000, { progressive: true, sampling: '11 11 11' }), 'too_heavy'],
    ['one that sends its colours in turn', jpeg(5_000, 5_000, { scanned: 1 }), 'too_heavy'],
    ['a picture that loses nothing', webp(2_600, 2_600, 'lossless'), 'too_heavy'],
    ['an animated one', webpCanvas(2_100, 2_100, true), 'too_heavy'],
    ['a palette animation', gif(3_600, 3_600), 'too_heavy'],
    ['a smaller interlaced drawing', png(3_000, 3_000, { interlaced: true }), 'image/png'],
    ['a smaller photograph', jpeg(3_500, 3_500, { progressive: true }), 'image/jpeg'],
  ])('%s', (_name, bytes, expected) => {
    expect(outcomeOf(bytes)).toBe(expected);
  });

  test('a photograph that goes over its picture again and again is refused', () => {
    const once = jpeg(100, 100, { progressive: true });
    const scans = Buffer.concat(Array.from({ length: 40 }, () => Buffer.from('ffda0008010100003f00', 'hex')));
    expect(outcomeOf(Buffer.concat([once, scans]))).toBe('too_heavy');
    expect(outcomeOf(Buffer.concat([once, scans.subarray(0, 100)]))).toBe('image/jpeg');
  });
});

describe('only the first picture is left for the decoder', () => {
  test('texts, profiles and what follows the end are cut out of a PNG', () => {
    const texts = ['zTXt', 'iCCP', 'tEXt', 'acTL'].map((name) => pngChunk(name, Buffer.alloc(50_000)));
    const bytes = Buffer.concat([wholePng(9, 9, texts), Buffer.from('PK\x03\x04 and a page')]);
    expect(checkImage(bytes).lean).toEqual(wholePng(9, 9));
  });

  test('later frames are cut off a GIF', () => {
    expect(checkImage(gif(9, 9, 5_000)).lean).toEqual(gif(9, 9));
  });

  test.each([
    [
      'a PNG of a million pieces',
      Buffer.concat([png(9, 9), ...Array.from({ length: 50_000 }, () => pngChunk('tEXt', Buffer.alloc(0)))]),
    ],
    [
      'a GIF of a million pieces',
      Buffer.concat([gif(9, 9).subarray(0, 19), Buffer.from('21fe', 'hex'), Buffer.alloc(900_000, '\x01\x41')]),
    ],
  ])('%s is refused', (_name, bytes) => {
    expect(outcomeOf(bytes)).toBe('broken');
  });
});

test(
  'whatever the bytes, an image within the limits or an ImageError comes out, soon',
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
        const startedMs = performance.now();
        try {
          const { width, height, unpackedBytes, lean } = checkImage(bytes);
          expect(width * height).toBeLessThanOrEqual(MAX_IMAGE_PIXELS);
          expect(unpackedBytes).toBeLessThanOrEqual(MAX_UNPACKED_BYTES);
          expect(lean.length).toBeLessThanOrEqual(bytes.length + 1);
        } catch (error) {
          expect(error).toBeInstanceOf(ImageError);
        }
        expect(performance.now() - startedMs).toBeLessThan(1_000);
      }),
      { numRuns: Infinity, interruptAfterTimeLimit: fuzzMs, markInterruptAsFailure: false },
    );
  },
  fuzzTestMs,
);
