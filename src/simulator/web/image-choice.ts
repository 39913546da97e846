import { MAX_FILE_BYTES, MAX_IMAGE_BYTES } from '../api.ts';
import type { PageText } from './page-texts.ts';

export const MAX_IMAGES = 9;

const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Maximum files other than images in one message. Higher than the bot's limit, so that the bot's reply can be seen. */
const MAX_FILES = 9;

export function isImage(file: { type: string }): boolean {
  return IMAGE_TYPES.has(file.type);
}

/** Like `imageFault`, for a file other than an image. */
export function fileFault(file: { size: number }, alreadyAdded: number): PageText | undefined {
  if (file.size > MAX_FILE_BYTES) return 'fileTooLarge';
  return alreadyAdded >= MAX_FILES ? 'fileCount' : undefined;
}

/** Why a file cannot be added to a message that already has `alreadyAdded` images; undefined if it can. */
export function imageFault(file: { type: string; size: number }, alreadyAdded: number): PageText | undefined {
  if (!isImage(file)) return 'imageKind';
  if (file.size > MAX_IMAGE_BYTES) return 'imageTooLarge';
  return alreadyAdded >= MAX_IMAGES ? 'imageCount' : undefined;
}
