import { CodedError } from '../../../../shared/coded-error.ts';

/** Reasons why an image cannot be sent to the model. `i18n/image-texts.ts` has a text for each. */
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
 * Thrown for bytes that cannot be sent to the model as an image. `too_large`: too many bytes; `unknown_type`: not a known
 * image format; `too_many_pixels`: too many pixels according to the header; `too_heavy`: the format must be decoded as a
 * whole and would need too much memory; `broken`: truncated or inconsistent; `not_read`: the decoder process died twice,
 * which does not prove a fault of the image.
 */
export class ImageError extends CodedError<ImageFault> {}

export function brokenImage(what: string, cause?: unknown): ImageError {
  return new ImageError('broken', what, cause === undefined ? undefined : { cause });
}
