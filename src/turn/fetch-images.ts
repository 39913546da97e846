import { CodedError } from '../base/coded-error.ts';
import { MIB_BYTES, SECOND_MS } from '../base/clock.ts';
import { checkImage, toDataUrl } from '../conversation/image-intake.ts';
import type { Platform } from '../platforms/platform.ts';

/** Thrown when an image of the question cannot be used; the person is told, the model is not asked. */
export class ImageRefusedError extends CodedError<'image_refused'> {}

const MAX_IMAGE_BYTES = 10 * MIB_BYTES;
const MOST_IMAGES = 4;
const FETCH_LIMIT_MS = 20 * SECOND_MS;

/**
 * Fetches a question's images through the platform, checks them by content and turns them into data URLs: a person's
 * address is never handed to the model service (security.md 6.6). Media addresses live for minutes, so this is the
 * first thing a turn does. @throws ImageRefusedError
 */
export async function fetchImages(platform: Platform, imageRefs: string[], signal: AbortSignal): Promise<string[]> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(FETCH_LIMIT_MS)]);
  return Promise.all(
    imageRefs.slice(0, MOST_IMAGES).map(async (mediaRef) => {
      try {
        const bytes = await platform.fetchMedia(mediaRef, MAX_IMAGE_BYTES, limited);
        return toDataUrl(bytes, checkImage(bytes).mediaType);
      } catch (cause) {
        if (signal.aborted) throw cause;
        throw new ImageRefusedError('image_refused', 'An image of the question cannot be used', { cause });
      }
    }),
  );
}
