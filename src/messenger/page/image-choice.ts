import { MAX_IMAGE_BYTES } from '../api.ts';
import type { PageText } from './page-texts.ts';

export const MAX_IMAGES = 9;

const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Why a chosen file cannot be added to a message that already carries `alreadyAdded` images; undefined when it can. */
export function imageFault(file: { type: string; size: number }, alreadyAdded: number): PageText | undefined {
  if (!IMAGE_TYPES.has(file.type)) return 'imageKind';
  if (file.size > MAX_IMAGE_BYTES) return 'imageTooLarge';
  return alreadyAdded >= MAX_IMAGES ? 'imageCount' : undefined;
}
