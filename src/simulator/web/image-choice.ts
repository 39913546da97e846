import { MAX_FILE_BYTES, MAX_IMAGE_BYTES } from '../api.ts';
import type { PageText } from './page-texts.ts';

export const MAX_IMAGES = 9;

const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Files of other kinds in one message; more than the bot takes, so that its answer to that can be seen. */
const MAX_FILES = 9;

export function isImage(file: { type: string }): boolean {
  return IMAGE_TYPES.has(file.type);
}

/** As `imageFault`, of a file of another kind. */
export function fileFault(file: { size: number }, alreadyAdded: number): PageText | undefined {
  if (file.size > MAX_FILE_BYTES) return 'fileTooLarge';
  return alreadyAdded >= MAX_FILES ? 'fileCount' : undefined;
}

/** Why a chosen file cannot be added to a message that already carries `alreadyAdded` images; undefined when it can. */
export function imageFault(file: { type: string; size: number }, alreadyAdded: number): PageText | undefined {
  if (!isImage(file)) return 'imageKind';
  if (file.size > MAX_IMAGE_BYTES) return 'imageTooLarge';
  return alreadyAdded >= MAX_IMAGES ? 'imageCount' : undefined;
}
