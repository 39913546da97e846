import { MIB_BYTES } from '../../../../shared/clock.ts';
import { pictureType } from '../../../knowledge/documents/picture-type.ts';
import { readGif } from './gif.ts';
import { ImageError } from './image-error.ts';
import type { ImageHeader } from './image-facts.ts';
import { readJpeg } from './jpeg.ts';
import { readPng } from './png.ts';
import { readWebp } from './webp.ts';

export type ImageMediaType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

export interface CheckedImage extends ImageHeader {
  mediaType: ImageMediaType;
}

export const MAX_IMAGE_BYTES = 10 * MIB_BYTES;
export const MAX_IMAGE_PIXELS = 25_000_000;
/** The decoder holds whole rows: 0.5 MiB at this width and the largest pixel size. */
export const MAX_SIDE_PIXELS = 65_535;
/** Including the scaled image, one decoding stays below 100 MB (SECURITY.md pinned-media). */
export const MAX_UNPACKED_BYTES = 36 * MIB_BYTES;

const READERS: Readonly<Record<ImageMediaType, (bytes: Buffer) => ImageHeader>> = {
  'image/png': readPng,
  'image/jpeg': readJpeg,
  'image/gif': readGif,
  'image/webp': readWebp,
};

/**
 * Checks an image by its bytes alone, whatever its name or declared type: format, size and, from the header, its pixels and
 * memory requirement; a small file can decode to a huge image (SECURITY.md pinned-media). Vector images are rejected.
 * @throws ImageError
 */
export function checkImage(bytes: Buffer): CheckedImage {
  if (bytes.length > MAX_IMAGE_BYTES) throw new ImageError('too_large', 'The image has too many bytes');
  const mediaType = pictureType(bytes);
  if (!mediaType) throw new ImageError('unknown_type', 'The file is not an image of a known type');
  const header = READERS[mediaType](bytes);
  const { width, height, unpackedBytes } = header;
  if (!(width > 0 && height > 0)) throw new ImageError('broken', 'The image has no size');
  if (width * height > MAX_IMAGE_PIXELS || Math.max(width, height) > MAX_SIDE_PIXELS)
    throw new ImageError('too_many_pixels', 'The image has too many pixels');
  if (unpackedBytes > MAX_UNPACKED_BYTES) throw new ImageError('too_heavy', 'The image takes too much memory');
  return { mediaType, ...header };
}
