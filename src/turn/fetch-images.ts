import { CodedError } from '../base/coded-error.ts';
import { MIB_BYTES, SECOND_MS } from '../base/clock.ts';
import { checkImage, ImageError, toDataUrl } from '../conversation/image-intake.ts';
import type { MediaStore } from '../conversation/media-store.ts';
import type { ConversationRef } from '../platforms/conversation-key.ts';
import { PlatformError } from '../platforms/platform-error.ts';
import type { InboundMessage, Platform } from '../platforms/platform.ts';

/**
 * Thrown when an image cannot be used; the person is told, the model is not asked. `image_refused`: it is none, or too
 * large. `image_gone`: it could not be downloaded, or its time is over.
 */
export class ImageRefusedError extends CodedError<'image_refused' | 'image_gone'> {}

/** An image of a question: where it is kept, and where the platform has it unless that is long ago. */
export interface ImageRef {
  mediaId: string;
  mediaRef?: string;
}

export interface ImageScene {
  platform: Platform;
  store: MediaStore;
  conversation: ConversationRef;
}

const MAX_IMAGE_BYTES = 10 * MIB_BYTES;
const FETCH_LIMIT_MS = 20 * SECOND_MS;

/** The images of a message, the quoted ones first, each with the name under which it is kept. */
export function imageRefsOf(message: InboundMessage, deliveryId: string): ImageRef[] {
  const mediaRefs = [...(message.quote ?? []), ...message.parts].flatMap((part) =>
    part.type === 'image' ? [part.mediaRef] : [],
  );
  return mediaRefs.map((mediaRef, index) => ({ mediaId: `${deliveryId}:${index}`, mediaRef }));
}

/**
 * A question's images as data URLs: a person's address is never handed to the model service (security.md 6.6).
 * @throws ImageRefusedError
 */
export async function fetchImages(scene: ImageScene, images: ImageRef[], signal: AbortSignal): Promise<string[]> {
  return Promise.all(images.map((image) => fetchImage(scene, image, signal)));
}

/**
 * Fetches an accepted message's images at once and keeps them, since the platform's addresses live for five minutes and
 * the message may wait longer: for the answer before it, or for its sender's sign-in. A failure is left to the turn.
 */
export async function prefetchImages(scene: ImageScene, message: InboundMessage, deliveryId: string): Promise<void> {
  const images = imageRefsOf(message, deliveryId);
  await Promise.allSettled(images.map((image) => fetchImage(scene, image, new AbortController().signal)));
}

async function fetchImage(
  { platform, store, conversation }: ImageScene,
  image: ImageRef,
  signal: AbortSignal,
): Promise<string> {
  const kept = await store.read(conversation.partition, image.mediaId);
  if (kept !== undefined) return kept;
  if (image.mediaRef === undefined) throw new ImageRefusedError('image_gone', 'An image is no longer kept');
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(FETCH_LIMIT_MS)]);
    const bytes = await platform.fetchMedia(image.mediaRef, MAX_IMAGE_BYTES, limited);
    const dataUrl = toDataUrl(bytes, checkImage(bytes).mediaType);
    await store.keep(conversation.partition, image.mediaId, dataUrl);
    return dataUrl;
  } catch (cause) {
    if (signal.aborted) throw cause;
    const isUnfit = cause instanceof ImageError || (cause instanceof PlatformError && cause.code === 'media_too_large');
    throw new ImageRefusedError(isUnfit ? 'image_refused' : 'image_gone', 'An image of the question cannot be used', {
      cause,
    });
  }
}
