import { fileURLToPath } from 'node:url';
import { SandboxedProcess, SandboxedProcessError } from '../../../../shared/process/sandboxed-process.ts';
import { MIB_BYTES, SECOND_MS } from '../../../../shared/clock.ts';
import { brokenImage, ImageError } from './image-error.ts';
import type { ImageMediaType } from './image-header.ts';

/** Parameters of one decoding; see `decoder.mjs`. */
export interface DecodeOrder {
  bytes: Buffer;
  mediaType: ImageMediaType;
  maxPixels: number;
  maxSide: number;
  maxBytes: number;
  /** Tried in order until the image is small enough. */
  jpegSteps: readonly { maxSide: number; quality: number }[];
}

export interface WrittenImage {
  mediaType: 'image/png' | 'image/jpeg';
  bytes: Buffer;
}

const PROGRAM = fileURLToPath(new URL('./decoder.mjs', import.meta.url));
/** Decoding a large photograph takes half a second. */
const DECODE_LIMIT_MS = 15 * SECOND_MS;
/**
 * Memory grows by 1 MiB to 5 MiB with a screenshot and by 25 MiB with a large photograph; starting a new decoder takes 0.2
 * s.
 */
const MAX_GROWN_BYTES = 8 * MIB_BYTES;

/** A process that decodes images. The caller must send one image at a time. */
export class DecoderProcess {
  readonly #process: SandboxedProcess;

  /** @param limitMs maximum time per image */
  constructor(limitMs = DECODE_LIMIT_MS) {
    this.#process = new SandboxedProcess({ path: PROGRAM, name: 'images', limitMs, maxGrownBytes: MAX_GROWN_BYTES });
  }

  /**
   * @throws ImageError `broken` if the image cannot be decoded, `not_read` if two decoders died on it, `too_heavy` if
   * decoding takes too long
   */
  async decode(order: DecodeOrder): Promise<WrittenImage> {
    const written = await this.#process.ask(order).catch((error: unknown) => {
      if (!(error instanceof SandboxedProcessError)) throw error;
      if (error.code === 'ended') throw new ImageError('not_read', 'The decoder ended twice', { cause: error });
      throw new ImageError('too_heavy', 'An image took too long to decode', { cause: error });
    });
    if (written === undefined) throw brokenImage('The image cannot be decoded');
    return written as WrittenImage;
  }
}
