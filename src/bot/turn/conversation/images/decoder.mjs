// Entry point of the process that decodes images from users, started by decoder-process.ts.
import sharp from 'sharp';
import { serveOrders } from '../../../../shared/process/serve-orders.mjs';

/** Decoders of the four supported formats. All other decoders of the library are blocked (SECURITY.md pinned-media). */
const OUR_LOADERS = [
  'VipsForeignLoadPngBuffer',
  'VipsForeignLoadJpegBuffer',
  'VipsForeignLoadNsgifBuffer',
  'VipsForeignLoadWebpBuffer',
];

sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: OUR_LOADERS });
// No image is decoded twice, and another thread would need its own memory.
sharp.cache(false);
sharp.concurrency(1);

/** Opens the first frame of an image. Truncated or inconsistent images are errors. */
const open = (bytes, { maxPixels }) =>
  sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error', pages: 1, sequentialRead: true });

/** Rotates upright, converts to sRGB and limits the size. Metadata is dropped by default. */
const scaled = (image, maxSide) =>
  image
    .autoOrient()
    .resize({ width: maxSide, height: maxSide, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb');

/**
 * Uses the first step that makes the image small enough. Optimized Huffman codes would save 5 % of the bytes, but the
 * encoder would keep the whole image in memory for them: 22 MiB at the maximum size.
 */
async function asJpeg(bytes, order) {
  for (const { maxSide, quality } of order.jpegSteps) {
    const image = scaled(open(bytes, order), maxSide).flatten({ background: '#ffffff' });
    const jpeg = await image.jpeg({ quality, optimizeCoding: false }).toBuffer();
    if (jpeg.length <= order.maxBytes) return { mediaType: 'image/jpeg', bytes: jpeg };
  }
  throw new Error('An image cannot be reduced enough');
}

/** Uses PNG if sharp edges or transparency matter and the result is small enough, otherwise JPEG. */
async function prepare(order) {
  const { bytes, mediaType, maxSide, maxBytes } = order;
  const isDrawing =
    mediaType === 'image/png' ||
    mediaType === 'image/gif' ||
    (mediaType === 'image/webp' && (await open(bytes, order).metadata()).hasAlpha);
  if (!isDrawing) return asJpeg(bytes, order);
  const png = await scaled(open(bytes, order), maxSide).png({ compressionLevel: 6 }).toBuffer();
  // An image that is too large as PNG is small enough to be decoded again.
  return png.length <= maxBytes ? { mediaType: 'image/png', bytes: png } : asJpeg(png, order);
}

// The decoder's error message may quote the file, so only the failure is reported.
serveOrders((order) => prepare(order).catch(() => undefined));
