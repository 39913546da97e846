import { setTimeout as sleep } from 'node:timers/promises';
import { CodedError } from '../../../shared/coded-error.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { ImageError, type ImageFault } from '../conversation/images/image-error.ts';
import { MAX_IMAGE_BYTES } from '../conversation/images/image-header.ts';
import type { KeptImage, MediaStore } from '../conversation/images/media-store.ts';
import { prepareImage } from '../conversation/images/prepare-image.ts';
import { SerialQueue } from '../../../shared/serial-queue.ts';
import type { ConversationRef } from '../../domain/conversation.ts';
import { PlatformError } from '../../platforms/platform-error.ts';
import type { Platform } from '../../platforms/platform.ts';
import type { InboundMessage } from '../../domain/message.ts';
import type { DeliveryId, PersonId } from '../../domain/ids.ts';
import { imageRefsOf, type ImageRef } from './image-refs.ts';

/**
 * Thrown when an image cannot be used; the person is told, the model is not asked. Its code is the fault of the image, or
 * `gone`: it could not be downloaded, or its time is over.
 */
export class ImageRefusedError extends CodedError<ImageFault | 'gone'> {
  /** Which of the question's images it is, from 1 on. */
  readonly position: number;

  constructor(code: ImageFault | 'gone', position: number) {
    super(code, 'An image of the question cannot be used');
    this.position = position;
  }
}

export interface ImageScene {
  platform: Platform;
  store: MediaStore;
  conversation: ConversationRef;
  /** The pseudonym of the person whose images these are. */
  personId: PersonId;
  /** Whether they are signed in, or need not be. */
  isSignedIn: boolean;
}

/** More are refused as a whole; so many always fit one request (`MAX_PREPARED_BYTES`). */
export const MOST_IMAGES = 10;
const FETCH_LIMIT_MS = 20 * SECOND_MS;
/** A turn that starts at once has its images by then; a platform's addresses live for minutes. */
const PREFETCH_AFTER_MS = 3 * SECOND_MS;
/** A receiver with so many images to prepare leaves further ones to their turns. */
const MOST_PREFETCHES = 20;

/** Few whole files are in memory at once, of one person half of them; each is bounded in time and size. */
const intake = new SerialQueue(4, 2);

/** What became of an image of a question; `gone` is not for good: it may be tried again. */
type FoundImage = KeptImage | { fault: 'gone' };

/**
 * A question's images as data URLs, in their order: a person's address is never handed to the model service (
 * SECURITY.md pinned-media). @throws ImageRefusedError for the first that cannot be used
 */
export async function fetchImages(
  context: ImageScene,
  images: readonly ImageRef[],
  signal: AbortSignal,
): Promise<string[]> {
  const { store, conversation } = context;
  const mediaIds = images.map(({ mediaId }) => mediaId);
  const kept = await store.read(conversation.partition, mediaIds);
  const found = await Promise.all(
    images.map(async (image, index) => kept[index] ?? fetchImage(context, image, signal)),
  );
  return found.map((image, index) => {
    if ('fault' in image) throw new ImageRefusedError(image.fault, index + 1);
    return image.dataUrl;
  });
}

/**
 * Fetches the images of an accepted message that still waits after a moment, and keeps them, since the platform's
 * addresses live for five minutes and it may wait for the answer before it for longer. A failure is left to the turn, and so is
 * everything of a sender who is not known to be let in: whoever likes may send images.
 */
export async function prefetchImages(
  context: ImageScene,
  { message, deliveryId, isKnown }: { message: InboundMessage; deliveryId: DeliveryId; isKnown(): Promise<boolean> },
): Promise<void> {
  const images = imageRefsOf(message, deliveryId);
  if (images.length === 0 || images.length > MOST_IMAGES) return;
  await sleep(PREFETCH_AFTER_MS, undefined, { ref: false });
  if (intake.unfinished + images.length > MOST_PREFETCHES || !(await isKnown().catch(() => false))) return;
  await fetchImages(context, images, new AbortController().signal).catch(() => undefined);
}

async function fetchImage(
  { platform, store, conversation, personId, isSignedIn }: ImageScene,
  { mediaId, mediaRef }: ImageRef,
  signal: AbortSignal,
): Promise<FoundImage> {
  if (mediaRef === undefined) return { fault: 'gone' };
  const image = await intake.run(personId, async (): Promise<FoundImage> => {
    try {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(FETCH_LIMIT_MS)]);
      const { bytes } = await platform.fetchMedia(mediaRef, MAX_IMAGE_BYTES, limited);
      return { dataUrl: await prepareImage(bytes, personId, signal) };
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof ImageError) return { fault: error.code };
      if (error instanceof PlatformError) return { fault: error.code === 'media_too_large' ? 'too_large' : 'gone' };
      if (error instanceof DOMException && error.name === 'TimeoutError') return { fault: 'gone' };
      throw error;
    }
  });
  if (isKept(image)) await store.keep({ partition: conversation.partition, personId, isSignedIn, mediaId }, image);
  return image;
}

/** What is known for good; an image that is gone now may be reached by another worker. */
function isKept(image: FoundImage): image is KeptImage {
  return !('fault' in image) || (image.fault !== 'gone' && image.fault !== 'not_read');
}
