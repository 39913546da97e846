import { fileURLToPath } from 'node:url';
import { BoundedProcess, BoundedProcessError } from '../../../../shared/process/sandboxed-process.ts';
import { MIB_BYTES, SECOND_MS } from '../../../../shared/clock.ts';
import { brokenImage, ImageError } from './image-error.ts';
import type { ImageMediaType } from './image-header.ts';

/** What is wanted of the decoder; see `decoder.mjs`. */
export interface DecodeOrder {
  bytes: Buffer;
  mediaType: ImageMediaType;
  mostPixels: number;
  longestSide: number;
  mostBytes: number;
  /** Tried in turn until the image is small enough. */
  jpegSteps: readonly { longestSide: number; quality: number }[];
}

export interface WrittenImage {
  mediaType: 'image/png' | 'image/jpeg';
  bytes: Buffer;
}

const PROGRAM = fileURLToPath(new URL('./decoder.mjs', import.meta.url));
/** A large photograph takes half a second. */
const DECODE_LIMIT_MS = 15 * SECOND_MS;
/** A screenshot leaves 1 MiB to 5 MiB, a large photograph 25 MiB; making another decoder takes a fifth of a second. */
const MOST_GROWN_BYTES = 8 * MIB_BYTES;

/** A process that decodes images, one at a time; the caller sees to that. */
export class DecoderProcess {
  readonly #process: BoundedProcess;

  /** @param limitMs how long one image may take */
  constructor(limitMs = DECODE_LIMIT_MS) {
    this.#process = new BoundedProcess({ path: PROGRAM, name: 'images', limitMs, mostGrownBytes: MOST_GROWN_BYTES });
  }

  /** @throws ImageError `broken` when it cannot be decoded, `not_read` when two decoders ended over it, `too_heavy` when it takes too long */
  async decode(order: DecodeOrder): Promise<WrittenImage> {
    const written = await this.#process.ask(order).catch((error: unknown) => {
      if (!(error instanceof BoundedProcessError)) throw error;
      if (error.code === 'ended') throw new ImageError('not_read', 'The decoder ended twice', { cause: error });
      throw new ImageError('too_heavy', 'An image took too long', { cause: error });
    });
    if (written === undefined) throw brokenImage('The image cannot be decoded');
    return written as WrittenImage;
  }
}
