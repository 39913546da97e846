import { CodedError } from '../../../../shared/coded-error.ts';

/** Why an image cannot go to the model. Each has a sentence for the person in `turn/image-texts.ts`. */
export const IMAGE_FAULTS = [
  'too_large',
  'unknown_type',
  'too_many_pixels',
  'too_heavy',
  'broken',
  'not_read',
] as const;
export type ImageFault = (typeof IMAGE_FAULTS)[number];

/**
 * Thrown when bytes are not an image that may go to the model. `too_large`: bytes; `unknown_type`: no image that is
 * known; `too_many_pixels`: its header promises too many; `too_heavy`: it is of a kind that must be unpacked as a whole
 * and would take too much memory; `broken`: it ends early or contradicts itself; `not_read`: the process that decodes images ended
 * twice, which says nothing of the image.
 */
export class ImageError extends CodedError<ImageFault> {}

export function brokenImage(what: string, cause?: unknown): ImageError {
  return new ImageError('broken', what, cause === undefined ? undefined : { cause });
}
