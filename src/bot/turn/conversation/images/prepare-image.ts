import { DecoderProcess } from './decoder-process.ts';
import { checkImage, MAX_IMAGE_PIXELS } from './image-header.ts';
import { SerialQueue } from '../../../../shared/serial-queue.ts';

/** Services scale larger images down themselves; this saves bytes and time. */
export const MAX_SIDE_PIXELS = 2_048;
/** Ten images of this size fit into 8 MiB of a request as data URLs. */
export const MAX_PREPARED_BYTES = 600_000;

/** Tried in order until the image is small enough; the last step suffices even for noise. */
const JPEG_STEPS: readonly { maxSide: number; quality: number }[] = [
  { maxSide: MAX_SIDE_PIXELS, quality: 85 },
  { maxSide: MAX_SIDE_PIXELS, quality: 70 },
  { maxSide: 1_536, quality: 70 },
  { maxSide: 1_024, quality: 65 },
  { maxSide: 768, quality: 50 },
];

/** One decoding at a time per process, so that memory is bounded under any load (SECURITY.md pinned-media). */
const lane = new SerialQueue(1);
const decoder = new DecoderProcess();

/**
 * Prepares a user's image for the model: its first frame, upright, scaled down and re-encoded as PNG or JPEG, so that no
 * other data of the file remains (location, camera, comments, trailing data). Decoding runs in a separate process; this
 * process reads only headers.
 * @param owner person to whom the image belongs: many images of one person do not delay another person's image
 * @returns a data URL @throws ImageError
 */
export async function prepareImage(image: Buffer, owner: string, signal: AbortSignal): Promise<string> {
  const { lean, mediaType } = checkImage(image);
  const written = await lane.run(owner, async () => {
    signal.throwIfAborted();
    return decoder.decode({
      bytes: lean,
      mediaType,
      maxPixels: MAX_IMAGE_PIXELS,
      maxSide: MAX_SIDE_PIXELS,
      maxBytes: MAX_PREPARED_BYTES,
      jpegSteps: JPEG_STEPS,
    });
  });
  return `data:${written.mediaType};base64,${Buffer.from(written.bytes).toString('base64')}`;
}
