import { imageSize } from 'image-size';
import { CodedError } from '../base/coded-error.ts';
import { MIB_BYTES } from '../base/clock.ts';

export type ImageMediaType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

export interface CheckedImage {
  mediaType: ImageMediaType;
  width: number;
  height: number;
}

/** Thrown when bytes are not an image that may go to the model. */
export class ImageError extends CodedError<'too_large' | 'unknown_type' | 'too_many_pixels' | 'broken'> {}

export const MAX_IMAGE_BYTES = 10 * MIB_BYTES;
export const MAX_IMAGE_PIXELS = 25_000_000;

const PNG_MAGIC = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG_MAGIC = Buffer.from([0xff, 0xd8, 0xff]);

/**
 * Judges an image by its bytes alone, whatever name or type it came with: kind, size and, from its header, pixels; a
 * small file can unpack to a huge picture (security.md 6.6).
 * @throws ImageError
 */
export function checkImage(bytes: Buffer): CheckedImage {
  if (bytes.length > MAX_IMAGE_BYTES) throw new ImageError('too_large', 'The image has too many bytes');
  const mediaType = sniffMediaType(bytes);
  if (mediaType === undefined) throw new ImageError('unknown_type', 'The bytes are no image of a known type');
  const { width, height } = readSize(bytes);
  if (!(width > 0 && height > 0)) throw new ImageError('broken', 'The image has no size');
  if (width * height > MAX_IMAGE_PIXELS) throw new ImageError('too_many_pixels', 'The image has too many pixels');
  return { mediaType, width, height };
}

/** An image as the chat service takes it. */
export function toDataUrl(bytes: Buffer, mediaType: ImageMediaType): string {
  return `data:${mediaType};base64,${bytes.toString('base64')}`;
}

function sniffMediaType(bytes: Buffer): ImageMediaType | undefined {
  if (bytes.subarray(0, PNG_MAGIC.length).equals(PNG_MAGIC)) return 'image/png';
  if (bytes.subarray(0, JPEG_MAGIC.length).equals(JPEG_MAGIC)) return 'image/jpeg';
  const head = bytes.toString('latin1', 0, 12);
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  return head.startsWith('RIFF') && head.endsWith('WEBP') ? 'image/webp' : undefined;
}

function readSize(bytes: Buffer): { width: number; height: number } {
  try {
    const { width, height } = imageSize(bytes);
    return { width, height };
  } catch (cause) {
    throw new ImageError('broken', 'The header of the image cannot be read', { cause });
  }
}
