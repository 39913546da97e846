import { DecoderProcess } from './decoder-process.ts';
import { checkImage, MAX_IMAGE_PIXELS } from './image-header.ts';
import { SerialQueue } from '../../../../shared/serial-queue.ts';

/** Services scale larger images down themselves; the person's bytes and time are spared. */
export const LONGEST_SIDE_PIXELS = 2_048;
/** Ten images of this size, written as data URLs, stay within 8 MiB of a request. */
export const MAX_PREPARED_BYTES = 600_000;

/** Tried in turn until the image is small enough; even noise is at the last. */
const JPEG_STEPS: readonly { longestSide: number; quality: number }[] = [
  { longestSide: LONGEST_SIDE_PIXELS, quality: 85 },
  { longestSide: LONGEST_SIDE_PIXELS, quality: 70 },
  { longestSide: 1_536, quality: 70 },
  { longestSide: 1_024, quality: 65 },
  { longestSide: 768, quality: 50 },
];

/** One decoding at a time in a process: so its memory is bounded, whatever comes at once (SECURITY.md pinned-media). */
const lane = new SerialQueue(1);
const decoder = new DecoderProcess();

/**
 * Makes of a person's image what may go to the model: its first picture, upright, scaled down, written anew as PNG or
 * JPEG, so that nothing else of the file is left (place and camera, comments, what hides behind its end). Decoding runs in a
 * process of its own; here only headers are read.
 * @param owner whose image it is: their many images do not hold up another's
 * @returns a data URL @throws ImageError
 */
export async function prepareImage(image: Buffer, owner: string, signal: AbortSignal): Promise<string> {
  const { lean, mediaType } = checkImage(image);
  const written = await lane.run(owner, async () => {
    signal.throwIfAborted();
    return decoder.decode({
      bytes: lean,
      mediaType,
      mostPixels: MAX_IMAGE_PIXELS,
      longestSide: LONGEST_SIDE_PIXELS,
      mostBytes: MAX_PREPARED_BYTES,
      jpegSteps: JPEG_STEPS,
    });
  });
  return `data:${written.mediaType};base64,${Buffer.from(written.bytes).toString('base64')}`;
}
