// The program of the process that decodes people's images, started by decoder-process.ts.
import sharp from 'sharp';
import { serveOrders } from '../../../../shared/process/serve-orders.mjs';

/** The decoders of the four kinds that we know; nothing else of the library may read (SECURITY.md pinned-media). */
const OUR_LOADERS = [
  'VipsForeignLoadPngBuffer',
  'VipsForeignLoadJpegBuffer',
  'VipsForeignLoadNsgifBuffer',
  'VipsForeignLoadWebpBuffer',
];

sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: OUR_LOADERS });
// What was decoded is never asked for twice, and another thread would have memory of its own.
sharp.cache(false);
sharp.concurrency(1);

/** The first picture of an image; one that is cut off or contradicts itself is an error. */
const open = (bytes, { mostPixels }) =>
  sharp(bytes, { limitInputPixels: mostPixels, failOn: 'error', pages: 1, sequentialRead: true });

/** Upright, in a screen's colours, no larger than it may be. Metadata is left out unless it is asked for. */
const scaled = (image, longestSide) =>
  image
    .autoOrient()
    .resize({ width: longestSide, height: longestSide, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb');

/**
 * The first of the steps after which it is small enough. Codes that fit each image would save a twentieth of its bytes, and
 * for them the encoder keeps the whole picture: 22 MiB at our largest.
 */
async function asJpeg(bytes, order) {
  for (const { longestSide, quality } of order.jpegSteps) {
    const image = scaled(open(bytes, order), longestSide).flatten({ background: '#ffffff' });
    const jpeg = await image.jpeg({ quality, optimizeCoding: false }).toBuffer();
    if (jpeg.length <= order.mostBytes) return { mediaType: 'image/jpeg', bytes: jpeg };
  }
  throw new Error('An image does not become small enough');
}

/** As PNG where sharp edges or what is see-through count and it is small enough, else as JPEG. */
async function prepare(order) {
  const { bytes, mediaType, longestSide, mostBytes } = order;
  const isDrawing =
    mediaType === 'image/png' ||
    mediaType === 'image/gif' ||
    (mediaType === 'image/webp' && (await open(bytes, order).metadata()).hasAlpha);
  if (!isDrawing) return asJpeg(bytes, order);
  const png = await scaled(open(bytes, order), longestSide).png({ compressionLevel: 6 }).toBuffer();
  // What is too large as PNG is small enough to start from again.
  return png.length <= mostBytes ? { mediaType: 'image/png', bytes: png } : asJpeg(png, order);
}

// The decoder's words may quote the file; that it failed is all that is told.
serveOrders((order) => prepare(order).catch(() => undefined));
