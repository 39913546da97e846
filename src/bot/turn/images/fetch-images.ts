import { setTimeout as sleep } from 'node:timers/promises';
import { CodedError } from '../../../shared/coded-error.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { ImageError, type ImageFault } from '../conversation/images/image-error.ts';
import { MAX_IMAGE_BYTES } from '../conversation/images/image-header.ts';
import type { StoredImage, MediaStore } from '../conversation/images/media-store.ts';
import { prepareImage } from '../conversation/images/prepare-image.ts';
import { SerialQueue } from '../../../shared/serial-queue.ts';
import { personIdOf, type ConversationRef } from '../../domain/conversation.ts';
import { PlatformError } from '../../platforms/platform-error.ts';
import type { Platform } from '../../platforms/platform.ts';
import type { InboundMessage } from '../../domain/message.ts';
import type { DeliveryId, PersonId } from '../../domain/ids.ts';
import type { TurnContext } from '../turn-context.ts';
import type { SignInMode } from '../turn-ports.ts';
import { downloadMedia, mediaFaultOf, type MediaFault } from './download-media.ts';
import { joinMessages, type ImageRef } from './image-refs.ts';

/** Why an image was not downloaded. Another attempt may succeed. */
type OutOfReach = 'gone' | 'unreachable';

/**
 * Thrown if an image cannot be used. The user is told, and the model is not called. The code is the image's fault, or
 * says why it was not downloaded: `gone`, such as expired, or `unreachable` for the moment.
 */
export class ImageRefusedError extends CodedError<ImageFault | OutOfReach> {
  /** Position among the question's images, starting at 1. */
  readonly position: number;

  constructor(code: ImageFault | OutOfReach, position: number) {
    super(code, 'An image of the question cannot be used');
    this.position = position;
  }
}

export interface ImageScene {
  platform: Pick<Platform, 'fetchMedia'>;
  store: MediaStore;
  conversation: ConversationRef;
  /** Pseudonym of the person who sent the images. */
  personId: PersonId;
  /** Whether the person is signed in or sign-in is off. */
  isSignedIn: boolean;
}

/** The place in which the attachments of a turn are read. @param mode whether sign-in is required */
export function imageSceneOf(
  { mediaStore: store, mode }: { mediaStore: MediaStore; mode: SignInMode },
  { newest, platform, turn: { conversation }, account }: TurnContext,
): ImageScene {
  const personId = personIdOf(newest, newest.sender.userId);
  return { platform, store, conversation, personId, isSignedIn: account !== undefined || mode === 'off' };
}

/** Maximum images per question; a question with more is refused. This many always fit one request (`MAX_PREPARED_BYTES`). */
export const MAX_IMAGES = 10;
/**
 * Delay of the prefetch. A turn that starts at once fetches its own images; media URLs of the platforms are valid for
 * minutes.
 */
const PREFETCH_AFTER_MS = 3 * SECOND_MS;
/** Maximum unfinished images per receiver; further images are left to their turns. */
const MAX_PREFETCHES = 20;

/** Limits the images in memory at once: four in total, two per person. Each is limited in time and size. */
const intake = new SerialQueue(4, 2);

/** Result of fetching an image. One that is out of reach may be tried again. */
type FoundImage = StoredImage | { fault: OutOfReach };

/**
 * The images of a question as data URLs, in order. The model service never receives a URL from a person
 * (SECURITY.md pinned-media). @throws ImageRefusedError for the first image that cannot be used
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
 * Fetches and stores the images of an accepted message that still waits after a short delay, because the platform's URLs
 * expire after five minutes and the message may wait longer. Failures are left to the turn, as are all images of an unknown
 * sender, because anyone can send images.
 */
export async function prefetchImages(
  context: ImageScene,
  { message, deliveryId, isKnown }: { message: InboundMessage; deliveryId: DeliveryId; isKnown(): Promise<boolean> },
): Promise<void> {
  const { images } = joinMessages([{ message, deliveryId }]);
  if (images.length === 0 || images.length > MAX_IMAGES) return;
  await sleep(PREFETCH_AFTER_MS, undefined, { ref: false });
  if (intake.unfinished + images.length > MAX_PREFETCHES || !(await isKnown().catch(() => false))) return;
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
      const { bytes } = await downloadMedia(platform, mediaRef, MAX_IMAGE_BYTES, signal);
      return { dataUrl: await prepareImage(bytes, personId, signal) };
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof ImageError) return { fault: error.code };
      if (error instanceof PlatformError) return { fault: imageFaultOf(mediaFaultOf(error)) };
      throw error;
    }
  });
  if (isKept(image))
    await store.storeImage({ partition: conversation.partition, personId, isSignedIn, mediaId }, image);
  return image;
}

/** An image that is stored outside the platform cannot be downloaded later either. */
function imageFaultOf(fault: MediaFault): Exclude<MediaFault, 'elsewhere'> {
  return fault === 'elsewhere' ? 'gone' : fault;
}

/** Whether the result is permanent. Another worker may be able to fetch an image that is out of reach here. */
function isKept(image: FoundImage): image is StoredImage {
  return !('fault' in image) || !['gone', 'unreachable', 'not_read'].includes(image.fault);
}
